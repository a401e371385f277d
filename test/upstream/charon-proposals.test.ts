import { vi } from 'vitest';
import { overHttp } from '../charon/store-under-test.ts';

// The suite of the policy engine once more, over a store that it reaches by HTTP alone: 200 proposals are many requests.
vi.setConfig({ testTimeout: 90_000 });
overHttp();
await import('../charon/proposals.test.ts');
