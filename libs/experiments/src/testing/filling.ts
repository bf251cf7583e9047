import { experiment, row, type Uploading } from './uploading';

export type Row = Record<string, unknown>;
export type Tenant = 'a' | 'b';

/** An experiment that was uploaded, and the body that it was made of. */
export interface Uploaded {
  readonly id: string;
  readonly dataset: string;
  readonly body: ReturnType<typeof experiment>;
}

/** A row whose run takes a second from the minute of its number on. */
export function numbered(number: number, members: Row = {}): Row & { row_id: string } {
  const at = (second: number) => `2026-01-01T10:${String(number).padStart(2, '0')}:0${second}Z`;
  return {
    ...row({ inputs: { question: number }, expected_outputs: { answer: number } }),
    start_time: at(0),
    end_time: at(1),
    ...members,
  };
}

/** A row whose run failed. */
export function failed(number: number, members: Row = {}): Row & { row_id: string } {
  return numbered(number, { error: 'timed out', ...members });
}

/** The row again, with a run that did not fail. */
export function again(failure: Row, members: Row = {}): Row {
  return { ...failure, error: undefined, actual_outputs: { ok: 1 }, ...members };
}

/** A score that was given at a second of 12 o'clock. */
export function scored(key: string, score: unknown, second: number): Row {
  const time = `2026-01-01T12:00:${String(second).padStart(2, '0')}Z`;
  return { key, score, comment: `${key} is ${String(score)}`, created_at: time, modified_at: time };
}

/** The body of a fill of an experiment. */
export function filling({ body }: Uploaded, rows: readonly unknown[], members: Row = {}) {
  return { ...body, ...members, results: rows };
}

/** Requests and queries for tests of fills. */
export function fillsOf(service: () => Uploading) {
  const post = (path: string, body: unknown, tenant: Tenant = 'a', headers = {}) =>
    service().send('POST', path, [typeof body === 'string' ? body : JSON.stringify(body)], {
      'x-api-key': tenant,
      ...headers,
    });
  const upload = (body: unknown, tenant: Tenant = 'a') => post('/api/v1/datasets/upload-experiment', body, tenant);
  const rowsOf = async (sql: string, ...values: unknown[]) => (await service().pool.query<Row>(sql, values)).rows;
  return {
    post,
    upload,
    rowsOf,
    fill: (into: string, body: unknown, headers = {}) =>
      post(`/api/v1/datasets/upload-experiment?into=${into}`, body, 'a', headers),
    uploaded: async (rows: readonly unknown[], members: Row = {}, tenant: Tenant = 'a'): Promise<Uploaded> => {
      const body = experiment(members, rows);
      const { status, json, text } = await upload(body, tenant);
      if (status !== 200) throw new Error(text);
      await service().settled();
      return { id: json.experiment.id, dataset: json.dataset.id, body };
    },
    session: async (id: string) => (await service().get(`/api/v1/sessions/${id}?include_stats=true`)).json,
    runsOf: (id: string) => rowsOf('select * from runs where session_id = $1 order by row_number', id),
  };
}
