import { EventStoreTables1763600000000 } from './1763600000000-event-store';
import { VaultTables1763600000100 } from './1763600000100-vault';
import { LogHashes1763700000200 } from './1763700000200-log-hashes';
import { ParkedSubjects1763800000000 } from './1763800000000-parked-subjects';
import { LogHeads1763900000600 } from './1763900000600-log-heads';
import { LogMove1763700000450 } from './1763700000450-log-move';
import { CheckpointEvents1764300001100 } from './1764300001100-checkpoint-events';
import { QuotaPlaces1764200001000 } from './1764200001000-quota-places';
import { QuotaMakers1764300001200 } from './1764300001200-quota-makers';
import { StoppedWorkspaces1764300001100 } from './1764300001100-stopped-workspaces';
import { StoredBytes1764400001000 } from './1764400001000-stored-bytes';
import { SealTrees1764500001000 } from './1764500001000-seal-trees';

export const eventingMigrations = [
  EventStoreTables1763600000000,
  VaultTables1763600000100,
  LogHashes1763700000200,
  ParkedSubjects1763800000000,
  LogMove1763700000450,
  LogHeads1763900000600,
  QuotaPlaces1764200001000,
  CheckpointEvents1764300001100,
  StoppedWorkspaces1764300001100,
  QuotaMakers1764300001200,
  StoredBytes1764400001000,
  SealTrees1764500001000,
];
