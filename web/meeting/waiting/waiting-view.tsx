/** The waiting room: we have knocked, and a moderator decides. */
import { Hourglass } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Banner } from '../../shared/components/states.js';
import { Preview } from '../devices/preview.js';
import { leave } from '../meeting/meeting.js';
import { state, ticket } from '../meeting/state.js';
import { useHeadingFocus } from '../meeting/use-heading-focus.js';
import { texts } from '../texts.js';

const { waiting: words } = texts;

export function WaitingView() {
  const heading = useHeadingFocus();
  const { trouble } = state.value;
  const { name = '', title } = ticket.value ?? {};
  return (
    <main class="waiting">
      {trouble && <Banner>{trouble}</Banner>}
      <Preview name={name} />
      <div class="about">
        <h1 ref={heading} tabIndex={-1}>
          <Icon of={Hourglass} />
          {words.title}
        </h1>
        {title && <strong>{title}</strong>}
        <p role="status">{words.about}</p>
        <Button onClick={leave}>{words.leave}</Button>
      </div>
    </main>
  );
}
