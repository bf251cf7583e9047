// `npm run parked`: what consumers gave up on, shown and tried again over HTTP with the operator's key.
const USAGE = `npm run -s parked                    lists what consumers gave up on or are trying again
npm run -s parked -- show <id>      shows one, with the reason
npm run -s parked -- retry <id>     tries one again at once
npm run -s parked -- retry --all    tries again all that were given up on
Needs FAIRLEAD_KEY, the installation's admin key; FAIRLEAD_URL is http://127.0.0.1:4600 when unset.`;

const { FAIRLEAD_URL = 'http://127.0.0.1:4600', FAIRLEAD_KEY } = process.env;
const [action = 'list', id, ...rest] = process.argv.slice(2);

try {
  if (!FAIRLEAD_KEY || rest.length > 0) usage();
  else if (action === 'list' && id === undefined) for (const one of await all()) console.log(line(one));
  else if (action === 'show' && id) await show('GET', id);
  else if (action === 'retry' && id === '--all') {
    for (const one of await all()) if (one.status === 'parked') await show('POST', `${one.id}/retry`);
  } else if (action === 'retry' && id) await show('POST', `${id}/retry`);
  else usage();
} catch (error) {
  console.error(`${FAIRLEAD_URL} cannot be asked: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}

function line({ id, status, consumer, subject, version, last_version, attempts, reason }) {
  const behind = last_version > version ? `, up to ${last_version - version} behind` : '';
  return `${id}  ${status}  ${consumer}  ${subject} version ${version}${behind}, ${attempts} attempts: ${reason}`;
}

async function show(method, path) {
  console.log(JSON.stringify(await ask(method, `/${encodeURI(path)}`), null, 2));
}

async function all() {
  const found = [];
  for (let after = ''; after !== null;) {
    const page = await ask('GET', `?after=${after}`);
    found.push(...page.resources);
    ({ after } = page);
  }
  return found;
}

async function ask(method, path) {
  const answer = await fetch(`${FAIRLEAD_URL}/v1/parked-subjects${path}`, {
    method,
    headers: { 'x-api-key': FAIRLEAD_KEY },
  });
  const body = await answer.json();
  if (!answer.ok) throw new Error(`${answer.status} ${JSON.stringify(body.detail)}`);
  return body;
}

function usage() {
  console.error(USAGE);
  process.exitCode = 2;
}
