import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { answered, api, type Schemas } from '../../api/client';
import { Action } from '../../ui/action';
import { List } from '../../ui/list';
import { Problem, Skeleton, Text, Time } from '../../ui/parts';
import { Status } from '../../ui/status';
import css from './connections.module.css';

type Delivery = Schemas['IntegrationDelivery'];

const SHOWN = 20;
const LOOK_MS = 5000;
const WORDS = {
  waiting: ['busy', 'Waits for the host'],
  done: ['ok', 'Revision made'],
  ignored: ['idle', 'Nothing to do'],
  set_aside: ['bad', 'Set aside'],
  refused: ['bad', 'Refused'],
} as const;

/** The newest deliveries of a code host, with what was made of each and why. */
export function Deliveries({ integration }: { integration: string }) {
  const { w } = useParams({ from: '/o/$w' });
  const queryKey = ['integrations', w, integration, 'deliveries'];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      answered(
        api.GET('/v1/integrations/{integration_id}/deliveries', {
          params: { path: { integration_id: integration }, query: { limit: SHOWN } },
          signal,
        }),
      ),
    // What waits for its host goes on by itself.
    refetchInterval: ({ state }) =>
      state.data?.resources.some(({ status }) => status === 'waiting') ? LOOK_MS : false,
  });
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: ({ id }: Delivery) =>
      answered(
        api.POST('/v1/integrations/{integration_id}/deliveries/{delivery_id}/retry', {
          params: { path: { integration_id: integration, delivery_id: id } },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  });
  if (list.error) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton rows={3} />;
  const { resources } = list.data;
  if (resources.length === 0) return <p className={css.quiet}>The code host has delivered nothing yet.</p>;
  return (
    <>
      {retry.error && <Problem error={retry.error} />}
      <List
        label="Deliveries"
        items={resources}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Came', kind: 'number', cell: ({ last_received_at }) => <Time at={last_received_at} /> },
          {
            title: 'What',
            kind: 'wide',
            cell: (one) => (
              <>
                <Text>{whatOf(one)}</Text>
                <div className={css.quiet}>
                  <Text>{one.reason ?? ''}</Text>
                  {madeOf(one).map(({ deployment_id, name }) => (
                    <div key={deployment_id}>
                      a revision of{' '}
                      <Link
                        to="/o/$w/host/deployments/$deployment"
                        params={{ w, deployment: deployment_id }}
                        search={{ tab: 'revisions' }}
                      >
                        <Text>{name}</Text>
                      </Link>
                    </div>
                  ))}
                </div>
              </>
            ),
          },
          {
            title: 'Status',
            cell: ({ status }) => <Status tone={WORDS[status][0]}>{WORDS[status][1]}</Status>,
          },
          {
            title: 'Actions',
            kind: 'end',
            cell: (one) =>
              one.pushes.length > 0 &&
              (one.status === 'set_aside' || one.status === 'ignored') && (
                <Action
                  scope="write"
                  kind="quiet"
                  aria-label={`Try again: ${whatOf(one)}`}
                  onClick={() => retry.mutate(one)}
                >
                  Try again
                </Action>
              ),
          },
        ]}
      />
    </>
  );
}

/** The deployments that a delivery made a revision of. */
function madeOf({ pushes }: Delivery) {
  return pushes.flatMap(({ deployments }) => deployments).filter(({ revision_id }) => revision_id !== null);
}

/** A delivery in few words. */
function whatOf({ event, pushes, times }: Delivery): string {
  const [push] = pushes;
  if (!push) return `${event ?? 'without a valid signature'}${times > 1 ? ` (${times} times)` : ''}`;
  const by = push.pusher === null ? '' : ` by ${push.pusher}`;
  const subject = push.subject === null ? '' : `: ${push.subject}`;
  const more = pushes.length > 1 ? ` and ${pushes.length - 1} more` : '';
  return `${push.ref.replace(/^refs\/heads\//, '')} at ${push.commit.slice(0, 7)}${by}${subject}${more}`;
}
