/** What the stage says while nobody else is in the meeting: whom to send the link to. */
import { CopyButton } from '../../shared/components/copy-button.js';
import { meetingLink } from '../meeting/link.js';
import { texts } from '../texts.js';

export const Invitation = () => (
  <div class="invitation">
    <strong>{texts.stage.alone}</strong>
    <p class="quiet">{texts.stage.aloneAbout}</p>
    <div class="link">
      <code>{meetingLink()}</code>
      <CopyButton text={meetingLink()} />
    </div>
  </div>
);
