import { useSyncExternalStore } from 'react';
import { ApiError } from './errors';

/** A request that was refused because the session of the page had ended. It waits until somebody has signed in. */
export interface Held {
  readonly method: string;
  readonly path: string;
  /** Title of the dialog that sent it. */
  readonly title: string | undefined;
  /** True when it changes and reveals nothing. */
  readonly reads: boolean;
  /** True when it deletes or reveals something, so that nobody but a person sends it again. */
  readonly grave: boolean;
  /** Sends it again, or fails it. */
  readonly decide: (again: boolean) => void;
}

export const SESSION = '/v1/console/session';
/** Paths of requests that end by themselves when nobody is signed in. */
const NEVER_HELD = [SESSION, '/v1/changes'];
const REVEALS = /\/reveal$|\/browser-links$/;

const held = new Set<Held>();
const listeners = new Set<() => void>();
let isOpen = false;
let ended = false;

/** Holds what is refused from now on, because somebody is signed in. */
export function openSession(): void {
  isOpen = true;
  setEnded(false);
}

/** Fails what is held: nobody is signed in any more, and nobody is asked to be. */
export function closeSession(): void {
  isOpen = false;
  setEnded(false);
  for (const one of held) one.decide(false);
}

/** Notes that nobody is signed in any more, unless nobody has been. */
export function endSession(): boolean {
  if (isOpen) setEnded(true);
  return isOpen;
}

/** True while the session of this page has ended and nobody has signed in again. */
export function hasEnded(): boolean {
  return ended;
}

export function useEnded(): boolean {
  return useSyncExternalStore(listen, hasEnded);
}

/** The requests that wait. */
export function heldRequests(): Held[] {
  return [...held];
}

/** Sends a request. One that is refused because the session has ended is answered once it has been sent again. */
export async function send(request: Request): Promise<Response> {
  const path = new URL(request.url).pathname;
  if (!isOpen || request.credentials === 'omit' || NEVER_HELD.includes(path)) return fetch(request);
  const again = request.clone();
  const response = await fetch(request);
  if (response.status !== 401 || !isOpen) return response;
  await hold(again);
  return send(again);
}

function hold({ method, url, signal }: Request): Promise<void> {
  const { pathname: path, searchParams } = new URL(url);
  const reads = method === 'GET' || method === 'HEAD' || searchParams.has('dry_run');
  return new Promise((resolve, reject) => {
    const one: Held = {
      ...{ method, path, title: openTitle(), reads },
      grave: !reads && (method === 'DELETE' || REVEALS.test(path)),
      decide(again) {
        if (!held.delete(one)) return;
        if (again) resolve();
        else reject(new ApiError(401, 'This was not sent again after the session had ended.', null));
      },
    };
    signal.addEventListener('abort', () => {
      held.delete(one);
      reject(signal.reason as Error);
    });
    held.add(one);
    setEnded(true);
  });
}

/** The title of the dialog that is open above all others. */
function openTitle(): string | undefined {
  return [...document.querySelectorAll('dialog[open] h2')].at(-1)?.textContent ?? undefined;
}

function setEnded(now: boolean): void {
  if (ended === now) return;
  ended = now;
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
