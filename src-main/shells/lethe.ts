import { runUnderNode } from './cli-node.ts';

await runUnderNode(async () => (await import('./cli-lethe.ts')).letheMain);
