import { shape } from '@fairlead/api';
import { int, literal, note, object as members, optional, uuid as identifier } from '@fairlead/schema';
import { DELIVERY_STATUSES, PUSH_STATUSES } from './judgement';

const { boolean, integer, list, noted, nullable, object, oneOf, text, time, uuid } = shape;

const integration_id = note(identifier(), 'The `id` of an integration of this workspace.');
export const deliveryPath = members({
  integration_id,
  delivery_id: note(identifier(), 'The `id` of a delivery of the integration.'),
});
export const deliveriesQuery = members({
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of deliveries in the answer.'),
  cursor: note(optional(identifier()), 'The `next_cursor` of the previous page; absent: the first page.'),
  status: note(optional(literal(DELIVERY_STATUSES)), 'Only deliveries in this status.'),
});

const reason = noted(nullable(text), 'Why nothing, or nothing yet, was made of it; null when something was.');
const outcome = object('PushOutcome', {
  deployment_id: noted(uuid, 'A deployment of the repository.'),
  name: noted(text, 'Its name at that time.'),
  revision_id: noted(nullable(uuid), 'The revision that was made; null before it is there, and when none is made.'),
  reason: noted(nullable(text), 'Why it gets no revision; null when it gets one.'),
});
const push = object('DeliveredPush', {
  repo_url: noted(text, 'Address of the repository, as the code host said.'),
  ref: noted(text, 'Branch or tag that was moved, such as `refs/heads/main`.'),
  before: noted(nullable(text), 'Commit before the push; null when the branch is new.'),
  commit: noted(text, 'Commit that was pushed.'),
  pusher: noted(nullable(text), 'User of the code host who pushed, as the host said; null when it did not.'),
  author: noted(nullable(text), 'Author of the commit, as the host said; null when it did not.'),
  subject: noted(nullable(text), 'First line of the message of the commit, as the host said; null when it did not.'),
  status: noted(
    oneOf(...PUSH_STATUSES),
    '`waiting`: the host is asked for the head of the branch. `done`: deployments get a revision of the head. `ignored`: none does. `set_aside`: the host gave no answer; see `reason`.',
  ),
  reason,
  head: noted(nullable(text), 'Head of the branch that the host answered; null before that.'),
  attempts: noted(integer, 'How often the host was asked.'),
  next_attempt_at: noted(nullable(time), 'When it is asked again; null when it is not, or at once.'),
  deployments: noted(list(outcome), 'What was made of the push for each deployment of the repository.'),
});

export const delivery = object('IntegrationDelivery', {
  id: noted(uuid, 'Identifier of the delivery.'),
  host_id: noted(nullable(text), 'Identifier that the code host gave it; null when the host gives none.'),
  event: noted(nullable(text), 'Name of the event, as the code host sent it; null when it sent none.'),
  status: noted(
    oneOf(...DELIVERY_STATUSES),
    '`refused`: it was not signed with the secret, or could not be read. Else the status of its pushes; `ignored` without any.',
  ),
  reason,
  received_at: noted(time, 'When it came first.'),
  last_received_at: noted(time, 'When it came last.'),
  times: noted(integer, 'How often it came. Deliveries that are not signed with the secret are one entry.'),
  pushes: noted(list(push), 'The branches and tags that it reports as moved.'),
});
export const deliveries = object('IntegrationDeliveries', {
  resources: noted(list(delivery), 'Deliveries of this page, the newest first.'),
  next_cursor: noted(nullable(uuid), 'Value for `cursor` to get the next page; null on the last one.'),
});

export const received = object('WebhookReceived', {
  pushes: noted(integer, 'Number of branches and tags that the delivery reports as moved.'),
  delivery_id: noted(uuid, 'Identifier of the delivery in the list of the integration.'),
  status: noted(oneOf(...DELIVERY_STATUSES), 'What is made of it.'),
  detail: noted(text, 'The same in a sentence.'),
  repeated: noted(boolean, 'Whether the delivery came before.'),
});
