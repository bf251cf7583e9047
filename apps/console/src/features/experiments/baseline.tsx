import { useMutation, useQueryClient } from '@tanstack/react-query';
import { answered, api } from '../../api/client';
import { Action } from '../../ui/action';
import { Problem } from '../../ui/parts';
import type { Experiment } from './data';

/** A button that makes the one ticked experiment the baseline of its dataset; nothing when it is that, or not one is. */
export function MakeBaseline({ chosen, onDone }: { chosen: readonly Experiment[]; onDone: () => void }) {
  const queries = useQueryClient();
  const [one, ...more] = chosen;
  const choice = useMutation({
    mutationFn: ({ id, reference_dataset_id }: Experiment) =>
      answered(
        api.PUT('/api/v1/datasets/{dataset_id}/baseline', {
          params: { path: { dataset_id: reference_dataset_id! } },
          body: { experiment_id: id },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => OF_BASELINE.has(String(name)) });
      onDone();
    },
  });
  if (choice.error) return <Problem error={choice.error} />;
  if (!one || more.length > 0) return null;
  return (
    <Action
      scope="write"
      disabled={choice.isPending}
      title="Lists then show the differences from this experiment."
      onClick={() => choice.mutate(one)}
    >
      Make it the baseline
    </Action>
  );
}

/** The queries whose answers tell of the baseline of a dataset. */
const OF_BASELINE = new Set(['dataset', 'experiments']);
