import { addBackupVerbs } from './cli-backup.ts';
import { addKeyVerbs } from './cli-keys.ts';
import { addLedgerVerbs } from './cli-ledger.ts';
import { addLtxVerbs } from './cli-ltx.ts';
import { addMcp } from './cli-mcp.ts';
import { addOauthVerbs } from './cli-oauth.ts';
import { addOwnerVerbs } from './cli-owner.ts';
import { addObolVerbs, addPrincipalVerbs } from './cli-principals.ts';
import { createProgram } from './cli-program.ts';
import { addProposalVerbs } from './cli-proposals.ts';
import { addReconcile } from './cli-reconcile.ts';
import { addRestore } from './cli-restore.ts';
import { addServe } from './cli-serve.ts';

const help = `
First steps:
  charon serve --owner-page
      start, with the desk in a browser
  charon principal reconcile "my agent" propose demo
      create an agent that may read, branch, commit and propose in the project demo
  charon obol mint <principal-id>
      make a token for it, shown once
  charon proposal ls demo
      see what waits for your review`;

/** The policy engine's command line (`charon.md` §8). Gives the exit code. */
export function charonMain(args: readonly string[]): Promise<number> {
  const program = createProgram(
    'charon',
    'Memory Git: serve your agents, decide who may do what, review what they propose.',
  );
  addServe(program);
  addMcp(program);
  addPrincipalVerbs(program);
  addObolVerbs(program);
  addOauthVerbs(program);
  addLtxVerbs(program);
  addProposalVerbs(program);
  addLedgerVerbs(program);
  addReconcile(program);
  addBackupVerbs(program);
  addRestore(program);
  addKeyVerbs(program);
  addOwnerVerbs(program);
  program.root.addHelpText('after', help);
  return program.run(args);
}
