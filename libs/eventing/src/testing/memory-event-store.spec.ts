import { MemoryEventStore, storeContract } from '.';

storeContract('Memory', () => new MemoryEventStore());
