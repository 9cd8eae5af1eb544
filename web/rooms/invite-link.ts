/** Invite links. Everything is behind `#`, which browsers do not send to the service. */
import { fromBase64url, KEY_BYTES } from './crypto/protocol.js';

export interface Invite {
  readonly roomId: string;
  /** Lets one person in. The service gets it when they join. */
  readonly token: string;
  /** Base64url. Never sent. */
  readonly roomKey: string;
  readonly keyVersion: number;
  /** Who invites, and the beginning of the digest of their signing key. */
  readonly by?: { readonly id: string; readonly name: string; readonly keyDigest: string };
  readonly title?: string;
}

export function inviteFragment({ roomId, token, roomKey, keyVersion, by, title }: Invite): string {
  const query = new URLSearchParams({ v: String(keyVersion) });
  if (title) query.set('title', title);
  if (by) {
    query.set('from', by.name);
    query.set('key', `${by.id}.${by.keyDigest}`);
  }
  return `#/join/${roomId}/${token}/${roomKey}?${query}`;
}

/** Undefined for anything but a complete invite link. */
export function parseInvite(path: readonly string[], query: URLSearchParams): Invite | undefined {
  const [view, roomId = '', token = '', roomKey = ''] = path;
  const keyVersion = Number(query.get('v') ?? 1);
  if (view !== 'join' || !/^[\w-]{1,128}$/.test(roomId) || !/^[\w-]{16,256}$/.test(token)) return undefined;
  if (!isKey(roomKey) || !Number.isSafeInteger(keyVersion) || keyVersion < 1) return undefined;
  const [id = '', keyDigest = ''] = (query.get('key') ?? '').split('.');
  const name = query.get('from');
  const title = query.get('title');
  return {
    roomId,
    token,
    roomKey,
    keyVersion,
    ...(id && keyDigest && name && { by: { id, name, keyDigest } }),
    ...(title && { title }),
  };
}

/** The part of a pasted link behind `#`; undefined if there is none. */
export function fragmentOf(pasted: string): string | undefined {
  const at = pasted.indexOf('#/join/');
  return at < 0 ? undefined : (pasted.slice(at).split(/\s/, 1)[0] ?? '');
}

function isKey(text: string): boolean {
  try {
    return fromBase64url(text).length === KEY_BYTES;
  } catch {
    return false;
  }
}
