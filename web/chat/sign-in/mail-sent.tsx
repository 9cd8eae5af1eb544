/** "Check your mail", with another try. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { signInTexts as texts } from '../texts/sign-in.js';
import { requestLink, requestReset } from './commands.js';
import { Frame } from './frame.js';

export interface Sent {
  readonly purpose: 'link' | 'reset';
  readonly email: string;
}

export function MailSent({ sent: { purpose, email }, onBack }: { sent: Sent; onBack: () => void }) {
  const [state, setState] = useState<{ busy?: boolean; note?: string }>({});
  async function again() {
    setState({ busy: true });
    try {
      await (purpose === 'link' ? requestLink(email) : requestReset(email));
      setState({ note: texts.sentAgain });
    } catch (error) {
      setState({ note: messageOf(error) });
    }
  }
  return (
    <Frame title={texts.checkMail} text={purpose === 'link' ? texts.linkSent(email) : texts.resetSent(email)}>
      <p class="quiet">{texts.noMail}</p>
      <div class="sign-in-actions">
        <Button onClick={onBack}>{texts.otherEmail}</Button>
        <Button busy={state.busy ?? false} onClick={again}>
          {texts.sendAgain}
        </Button>
      </div>
      <p role="status" class="quiet">
        {state.note}
      </p>
    </Frame>
  );
}
