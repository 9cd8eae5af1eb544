/** What the meeting is called, its id, and whether it is locked or recorded. */
import { Link, Lock } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { texts } from '../texts.js';
import { copyWithNotice } from './copy.js';
import { meetingLink } from './link.js';
import { me, nameOf, room, state, ticket } from './state.js';
import { useHeadingFocus } from './use-heading-focus.js';

const { header: words } = texts;

export function Header() {
  const heading = useHeadingFocus();
  const { isLocked, recordingBy } = room.value;
  return (
    <header class="bar">
      <h1 ref={heading} tabIndex={-1}>
        <span class="title">{ticket.value?.title || texts.meeting}</span> <code>{state.value.roomId}</code>
      </h1>
      {isLocked && (
        <span class="status locked" title={words.lockedAbout}>
          <Icon of={Lock} />
          {words.locked}
        </span>
      )}
      {recordingBy !== undefined && (
        <span class="status recording">
          <span class="dot" aria-hidden="true" />
          {words.recordedBy(recordingBy === me.value ? texts.you : nameOf(recordingBy))}
        </span>
      )}
      <Button
        small
        variant="ghost"
        icon={Link}
        aria-label={words.copyLink}
        onClick={() => copyWithNotice(meetingLink(), words.linkCopied)}
      >
        <span class="label">{words.copyLink}</span>
      </Button>
    </header>
  );
}
