// `npm run parked`: what consumers gave up on, shown and tried again over HTTP with the operator's key.
const USAGE = `npm run -s parked                    lists what consumers gave up on or are trying again
npm run -s parked -- show <id>      shows one, with the reason
npm run -s parked -- retry <id>     tries one again at once
npm run -s parked -- retry --all    tries again all that were given up on
Needs FAIRLEAD_KEY, the installation's admin key; FAIRLEAD_URL is http://127.0.0.1:4600 when unset.`;

const { FAIRLEAD_URL = 'http://127.0.0.1:4600', FAIRLEAD_KEY } = process.env;
const [action = 'list', id, ...rest] = process.argv.slice(2);

try {
  process.exitCode = await run();
} catch (error) {
  console.error(`${FAIRLEAD_URL} cannot be asked: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}

/** Answers the exit code. */
async function run() {
  if (!FAIRLEAD_KEY || rest.length > 0) return usage();
  if (action === 'list' && id === undefined) return list();
  if (action === 'show' && id) return show('GET', id);
  if (action === 'retry' && id === '--all') return retryAll();
  if (action === 'retry' && id) return show('POST', `${id}/retry`);
  return usage();
}

async function list() {
  for (const { id, status, consumer, subject, version, last_version, attempts, reason } of await all()) {
    const waiting = last_version - version;
    const behind = waiting > 0 ? `, up to ${waiting} behind` : '';
    console.log(
      `${id}  ${status}  ${consumer}  ${subject} version ${version}${behind}, ${attempts} attempts: ${reason}`,
    );
  }
  return 0;
}

async function retryAll() {
  const parked = (await all()).filter(({ status }) => status === 'parked');
  for (const { id } of parked) await show('POST', `${id}/retry`);
  return 0;
}

async function show(method, path) {
  console.log(JSON.stringify(await ask(method, `/v1/parked-subjects/${encodeURI(path)}`), null, 2));
  return 0;
}

async function all() {
  const found = [];
  for (let after = ''; after !== null;) {
    const page = await ask('GET', `/v1/parked-subjects?after=${after}`);
    found.push(...page.resources);
    ({ after } = page);
  }
  return found;
}

async function ask(method, path) {
  const answer = await fetch(FAIRLEAD_URL + path, { method, headers: { 'x-api-key': FAIRLEAD_KEY } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${JSON.stringify(body.detail)}`);
  return body;
}

function usage() {
  console.error(USAGE);
  return 2;
}
