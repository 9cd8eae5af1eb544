/** The part of the address behind `#` as a signal, so that views can be linked without routes of the service. */
import { signal } from '@preact/signals';

const read = () => location.hash.replace(/^#\/?/, '');

const current = signal(read());
addEventListener('hashchange', () => {
  current.value = read();
});

/** Undecoded where an address is damaged, as links in messages may be. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Segments and parameters of `#/channels/c1?at=m1`: `['channels', 'c1']`, `{at: 'm1'}`. Reading it subscribes. */
export function route(): { readonly path: readonly string[]; readonly query: URLSearchParams } {
  const [path = '', query = ''] = current.value.split('?', 2);
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

/** `#/channels/c1?at=m1` */
export function href(path: readonly string[], query: { readonly [name: string]: string } = {}): string {
  const search = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`;
}

/** `replace` does not add to the history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', to);
  else history.pushState(null, '', to);
  current.value = read();
}
addEventListener('popstate', () => {
  current.value = read();
});
