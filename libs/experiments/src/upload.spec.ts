import { experiment, row, startUploading, type Uploading } from './testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

describe('the first answer', () => {
  it('echoes the request, with everything that is computed later still null', async () => {
    const body = experiment({
      experiment_description: 'first try',
      dataset_description: 'questions',
      experiment_metadata: { model: 'm', n: 1.0 },
    });
    const { status, json } = await service.upload(body);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      dataset: { name: body.dataset_name, description: 'questions' },
      experiment: { name: body.experiment_name, extra: { metadata: { model: 'm' } } },
    });
    await service.settled();
    const read = await service.get(`/api/v1/sessions/${json.experiment.id}?include_stats=true`);
    expect(read.json).toMatchObject({ run_count: 1, latency_p50: 1.5 });
  });
});
