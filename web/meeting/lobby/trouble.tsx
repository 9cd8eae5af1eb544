/** Why we are not in the meeting (any more), and the way in that remains. */
import { CircleAlert } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { enter, leave } from '../meeting/meeting.js';
import { state, ticket } from '../meeting/state.js';
import { texts } from '../texts.js';

export function Trouble({ checkedName }: { checkedName: () => string | undefined }) {
  const { trouble, errorCode, status } = state.value;
  const isJoining = status === 'joining';
  if (!trouble) return null;
  const last = ticket.value;
  const canStart = errorCode === 'ROOM_NOT_FOUND' && last && /^[A-Z0-9]{6}$/.test(last.roomId);
  return (
    <div class={`trouble ${isJoining || trouble === texts.ended.left ? 'calm' : ''}`} role="alert">
      <Icon of={CircleAlert} />
      <p>{trouble}</p>
      {isJoining && (
        <Button small onClick={leave}>
          {texts.lobby.cancel}
        </Button>
      )}
      {canStart && (
        <Button
          small
          onClick={() => {
            const name = checkedName();
            if (name) void enter({ ...last, name, isHost: true });
          }}
        >
          {texts.lobby.startHere(last.roomId)}
        </Button>
      )}
    </div>
  );
}
