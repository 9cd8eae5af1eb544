/** Messages that the service has not confirmed, and what can be done with them. */
import { Button } from '../../shared/components/button.js';
import { outbox } from '../meeting/meeting.js';
import { texts } from '../texts.js';

const { chat: words } = texts;

const STATUS = { queued: words.queued, sent: words.sending, unsure: words.unsure } as const;

export function OutboxList() {
  const waiting = outbox.visible.value;
  if (waiting.length === 0) return null;
  return (
    <section class="outbox" aria-label={words.outbox}>
      <h3>{words.outbox}</h3>
      <ul>
        {waiting.map(({ id, text, status }) => (
          <li key={id}>
            <span class="text">{text}</span>
            <span class="line">
              <span class="quiet">{STATUS[status]}</span>
              {status === 'unsure' && (
                <Button small onClick={() => outbox.sendAgain(id)}>
                  {words.sendAgain}
                </Button>
              )}
              {status !== 'sent' && (
                <Button small variant="ghost" onClick={() => outbox.discard(id)}>
                  {words.discard}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
