import { overHttp } from '../charon/store-under-test.ts';

// The suite of the policy engine once more, over a store that it reaches by HTTP alone.
overHttp();
await import('../charon/settle-by-hand.test.ts');
