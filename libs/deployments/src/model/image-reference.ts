const HOST = /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*|\[[a-f\d:]+\])(?::\d+)?$/i;
const PATH_PART = /^[a-z\d]+(?:(?:\.|__?|-+)[a-z\d]+)*$/;
const DIGEST = /^(?:sha256:[a-f\d]{64}|sha384:[a-f\d]{96}|sha512:[a-f\d]{128})$/;
const TAG = /^\w[\w.-]{0,127}$/;
/** Registries take such a name for the id of an image. */
const ID = /^[a-f\d]{64}$/;
/** Where an image is that names no registry, and no folder there. */
const DEFAULT_HOST = 'docker.io/';
const DEFAULT_FOLDER = 'library/';
const MOST_PORT = 65_535;
/** Characters of an image's name with its registry, and of a whole reference. */
const LONGEST_IMAGE_NAME = 255;
const LONGEST_REFERENCE = 1000;

/** True when a text is an image reference as Docker defines it: `[host[:port]/]path[:tag][@digest]`. */
export function isImageReference(text: string): boolean {
  if (text.length > LONGEST_REFERENCE) return false;
  const [tagged = '', digest, ...more] = text.split('@');
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return false;
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  if (colon >= 0 && !TAG.test(tagged.slice(colon + 1))) return false;
  const name = colon < 0 ? tagged : tagged.slice(0, colon);
  const [first = '', ...rest] = name.split('/');
  // Without a dot, a port or `localhost` the first part belongs to the path.
  const isHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost');
  if (isHost && !(HOST.test(first) && Number(/:(\d+)$/.exec(first)?.[1] ?? 0) <= MOST_PORT)) return false;
  const implied = isHost ? '' : rest.length > 0 ? DEFAULT_HOST : DEFAULT_HOST + DEFAULT_FOLDER;
  const path = isHost ? rest : [first, ...rest];
  return (
    implied.length + name.length <= LONGEST_IMAGE_NAME && !ID.test(text) && path.every((part) => PATH_PART.test(part))
  );
}

/** The tag of an image reference; null when it has none or is pinned by digest. */
export function imageVersion(imageUri: string | undefined): string | null {
  if (imageUri === undefined || imageUri.includes('@')) return null;
  return /:(\w[\w.-]{0,127})$/.exec(imageUri.slice(imageUri.lastIndexOf('/') + 1))?.[1] ?? null;
}
