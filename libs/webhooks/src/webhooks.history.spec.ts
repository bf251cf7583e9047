import { join } from 'node:path';
import { historyTests, renamed } from '@fairlead/eventstoredb/testing';
import { webhookModel } from './webhook/webhook';

historyTests(join(__dirname, 'recorded'), { webhook: webhookModel }, renamed('WebhookAdded', 'url', 'target'));
