import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, the longest first: one of them begun last would leave the other workers idle at the end. */
const slow = [
  'shells/command-line',
  'shells/mcp-bridge',
  'fuzz/projection',
  'fuzz/diff',
  'fuzz/detection',
  'lethe/events-baseline',
  'transports/lethe-http-serve',
  'upstream/journey',
  'import/command-line',
  'shells/reviewing',
  'shells/backup',
  'commands/proposal-triples',
  'shells/ledger-history',
  'ledger/verify',
  'lethe/verify-chain',
  'examples/langgraph-store',
  'lethe/kill',
  'charon/crash',
  'ledger/kill',
];

/** The usual order, by project and length, but the slow files at the head of their project also when nothing is known of earlier runs. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files);
    const projects = [...new Set(usual.map((file) => file.project))];
    return projects.flatMap((project) => {
      const own = usual.filter((file) => file.project === project);
      const first = slow.flatMap((name) => own.filter((file) => file.moduleId.endsWith(`/test/${name}.test.ts`)));
      return [...first, ...own.filter((file) => !first.includes(file))];
    });
  }
}
