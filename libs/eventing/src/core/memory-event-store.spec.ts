import { MemoryEventStore } from '..';
import { storeContract } from '../testing';

storeContract('Memory', () => new MemoryEventStore());
