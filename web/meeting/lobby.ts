/** Lobby: own name, joining a meeting, creating one. */
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

/** Creates the lobby. `known`: the name used in this tab before. */
export function createLobby(enter: (input: JoinForm) => void, known?: string) {
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

  /** Returns undefined and shows a hint if the name is missing. */
  function ownIdentity() {
    if (!name.reportValidity()) return undefined;
    localStorage.setItem(NAME, name.value);
    const selectedPicture = document.querySelector<HTMLInputElement>('input[name=picture]:checked');
    return { name: name.value.trim(), picture: selectedPicture?.value === 'camera' ? 'camera' : 'drawing' } as const;
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
      // Prefills the form for joining again later.
      roomId.value = created.roomId;
      const { creatorToken } = created;
      enter({ ...self, roomId: created.roomId, creatorToken, password, isHost: false, title: created.title ?? '' });
    } catch (error) {
      showTrouble(error instanceof Error ? error.message : String(error));
    }
  };

  return { showTrouble };
}

/** Returns the trimmed fields without empty ones. */
const fieldsOf = (form: HTMLFormElement): { readonly [name: string]: string | undefined } =>
  Object.fromEntries([...new FormData(form)].map(([key, value]) => [key, String(value).trim() || undefined]));

/** Rejects with the error of the service. */
async function createRoom(input: object): Promise<Created> {
  const response = await fetch('api/rooms', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  }).catch(() => {
    throw new Error('The service cannot be reached.');
  });
  const answer = await response.json().catch(() => ({ error: `The service answered ${response.status}.` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
