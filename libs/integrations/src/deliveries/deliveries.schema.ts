import { bool, int, list, literal, note, nullable, object, optional, str, timestamp, uuid } from '@fairlead/schema';
import { DELIVERY_STATUSES, PUSH_STATUSES } from './judgement';

const integration_id = note(uuid(), 'The `id` of an integration of this workspace.');
export const deliveryPath = object({
  integration_id,
  delivery_id: note(uuid(), 'The `id` of a delivery of the integration.'),
});
export const deliveriesQuery = object({
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of deliveries in the answer.'),
  cursor: note(optional(uuid()), 'The `next_cursor` of the previous page; absent: the first page.'),
  status: note(optional(literal(DELIVERY_STATUSES)), 'Only deliveries in this status.'),
});

const reason = note(nullable(str()), 'Why nothing, or nothing yet, was made of it; null when something was.');
const outcome = object('PushOutcome', {
  deployment_id: note(uuid(), 'A deployment of the repository.'),
  name: note(str(), 'Its name at that time.'),
  revision_id: note(nullable(uuid()), 'The revision that was made; null before it is there, and when none is made.'),
  reason: note(nullable(str()), 'Why it gets no revision; null when it gets one.'),
});
const push = object('DeliveredPush', {
  repo_url: note(str(), 'Address of the repository, as the code host said.'),
  ref: note(str(), 'Branch or tag that was moved, such as `refs/heads/main`.'),
  before: note(nullable(str()), 'Commit before the push; null when the branch is new.'),
  commit: note(str(), 'Commit that was pushed.'),
  pusher: note(nullable(str()), 'User of the code host who pushed, as the host said; null when it did not.'),
  author: note(nullable(str()), 'Author of the commit, as the host said; null when it did not.'),
  subject: note(nullable(str()), 'First line of the message of the commit, as the host said; null when it did not.'),
  status: note(
    literal(PUSH_STATUSES),
    '`waiting`: the host is asked for the head of the branch. `done`: deployments get a revision of the head. `ignored`: none does. `set_aside`: the host gave no answer; see `reason`.',
  ),
  reason,
  head: note(nullable(str()), 'Head of the branch that the host answered; null before that.'),
  attempts: note(int(), 'How often the host was asked.'),
  next_attempt_at: note(nullable(timestamp()), 'When it is asked again; null when it is not, or at once.'),
  deployments: note(list(outcome), 'What was made of the push for each deployment of the repository.'),
});

export const delivery = object('IntegrationDelivery', {
  id: note(uuid(), 'Identifier of the delivery.'),
  host_id: note(nullable(str()), 'Identifier that the code host gave it; null when the host gives none.'),
  event: note(nullable(str()), 'Name of the event, as the code host sent it; null when it sent none.'),
  status: note(
    literal(DELIVERY_STATUSES),
    '`refused`: it was not signed with the secret, or could not be read. Else the status of its pushes; `ignored` without any.',
  ),
  reason,
  received_at: note(timestamp(), 'When it came first.'),
  last_received_at: note(timestamp(), 'When it came last.'),
  times: note(int(), 'How often it came. Deliveries that are not signed with the secret are one entry.'),
  pushes: note(list(push), 'The branches and tags that it reports as moved.'),
});
export const deliveries = object('IntegrationDeliveries', {
  resources: note(list(delivery), 'Deliveries of this page, the newest first.'),
  next_cursor: note(nullable(uuid()), 'Value for `cursor` to get the next page; null on the last one.'),
});

export const received = object('WebhookReceived', {
  pushes: note(int(), 'Number of branches and tags that the delivery reports as moved.'),
  delivery_id: note(uuid(), 'Identifier of the delivery in the list of the integration.'),
  status: note(literal(DELIVERY_STATUSES), 'What is made of it.'),
  detail: note(str(), 'The same in a sentence.'),
  repeated: note(bool(), 'Whether the delivery came before.'),
});
