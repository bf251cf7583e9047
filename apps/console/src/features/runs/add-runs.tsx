import { useMutation } from '@tanstack/react-query';
import { answered, api } from '../../api/client';
import type { TraceLine } from '../../api/traces';
import { Added } from '../../ui/adding/added';
import { useDatasetChoice } from '../../ui/adding/dataset-choice';
import { Dialog } from '../../ui/dialog';
import { Form } from '../../ui/form';

interface AddRunsProps {
  readonly chosen: readonly TraceLine[];
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Makes an example of each ticked run, with the inputs and outputs of the run. */
export function AddRuns({ chosen, onDone, onClose }: AddRunsProps) {
  const choice = useDatasetChoice();
  const runs = chosen.length === 1 ? '1 run' : `${chosen.length} runs`;
  const add = useMutation({
    mutationFn: async () => {
      const dataset_id = await choice.take();
      // All are added or none. The service copies what was sent, so that numbers keep their digits.
      const body = chosen.map(({ id }) => ({
        dataset_id,
        source_run_id: id,
        use_source_run_io: true,
        use_source_run_attachments: null,
      }));
      await answered(api.POST('/api/v1/examples/bulk', { body }));
      return dataset_id;
    },
    onSuccess: choice.refresh,
  });
  if (add.data !== undefined) {
    const close = () => {
      onDone();
      onClose();
    };
    return (
      <Added dataset={add.data} onClose={close}>
        {chosen.length === 1 ? 'The run is an example now.' : `The ${runs} are examples now.`}
      </Added>
    );
  }
  return (
    <Dialog narrow title={`Add ${runs} to a dataset`} onClose={onClose}>
      {choice.fields === undefined && choice.waiting}
      {choice.fields !== undefined && (
        <Form
          action="Add"
          onSubmit={() => add.mutate()}
          onCancel={onClose}
          busy={add.isPending}
          disabled={!choice.isReady}
          error={add.error}
        >
          {choice.fields}
          <p>Inputs become those of the example, and outputs its reference.</p>
        </Form>
      )}
    </Dialog>
  );
}
