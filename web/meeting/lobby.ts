/** Before a meeting: who we are, which meeting, or a new one. */
import { byId } from '../shared/dom.js';
import type { Join } from './messages.js';

export type JoinForm = Omit<Join, 'type'> & {
  readonly picture: 'camera' | 'drawing';
  readonly title: string;
};

interface Created {
  readonly roomId: string;
  readonly creatorToken: string;
  readonly title?: string;
}

const NAME = 'meeting.name';

/** `known`: the name of who was here before in this tab. */
export function createLobby(enter: (wish: JoinForm) => void, known?: string) {
  const trouble = byId('lobby-trouble');
  const name = byId<HTMLInputElement>('name');
  const join = byId<HTMLFormElement>('join');
  const create = byId<HTMLFormElement>('create');
  const roomId = join.elements.namedItem('roomId') as HTMLInputElement;

  name.value = known ?? localStorage.getItem(NAME) ?? '';
  roomId.value = decodeURIComponent(location.hash.slice(1));
  (name.value ? roomId : name).focus();

  function showTrouble(what: string) {
    trouble.textContent = what;
    trouble.hidden = what === '';
  }

  /** Undefined, and the reader told, where no name is given. */
  function ownIdentity() {
    if (!name.reportValidity()) return undefined;
    localStorage.setItem(NAME, name.value);
    const chosen = document.querySelector<HTMLInputElement>('input[name=picture]:checked');
    return { name: name.value.trim(), picture: chosen?.value === 'camera' ? 'camera' : 'drawing' } as const;
  }

  join.onsubmit = (event) => {
    event.preventDefault();
    const self = ownIdentity();
    const { roomId, password, creatorToken, isHost } = fieldsOf(join);
    if (self)
      enter({
        ...self,
        roomId: roomId!.toUpperCase(),
        isHost: isHost !== undefined,
        password,
        creatorToken,
        title: '',
      });
  };

  create.onsubmit = async (event) => {
    event.preventDefault();
    const self = ownIdentity();
    if (!self) return;
    showTrouble('');
    const { title, password, maxParticipants } = fieldsOf(create);
    try {
      const created = await createRoom({
        title,
        password,
        maxParticipants: maxParticipants === undefined ? undefined : Number(maxParticipants),
      });
      // For who leaves, and joins again.
      roomId.value = created.roomId;
      const { creatorToken } = created;
      enter({ ...self, roomId: created.roomId, creatorToken, password, isHost: false, title: created.title ?? '' });
    } catch (error) {
      showTrouble(error instanceof Error ? error.message : String(error));
    }
  };

  return { showTrouble };
}

/** Trimmed; those that are empty are left out. */
const fieldsOf = (form: HTMLFormElement): { readonly [name: string]: string | undefined } =>
  Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim() || undefined]));

/** Rejects with what the service says is wrong. */
async function createRoom(wish: object): Promise<Created> {
  const response = await fetch('api/rooms', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(wish),
  }).catch(() => {
    throw new Error('The service can not be reached.');
  });
  const answer = await response.json().catch(() => ({ error: `The service answered ${response.status}.` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
