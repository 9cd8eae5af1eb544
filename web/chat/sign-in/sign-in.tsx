/** Signing in: chooses the view by what the address brought, the mode of the server and what the person asked for. */
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { FormError } from '../../shared/components/form.js';
import { Failed, Loading } from '../../shared/components/states.js';
import { endReason } from '../session.js';
import { signInTexts as texts } from '../texts/sign-in.js';
import { config, configError, loadConfig, providers, type SignInConfig } from './config.js';
import { entry, leaveForProvider } from './entry.js';
import { DevForm, LinkForm, PasswordForm, RegisterForm, ResetForm } from './forms.js';
import { Frame } from './frame.js';
import { LinkView, SetPasswordView, TokensView } from './link-views.js';
import { MailSent, type Sent } from './mail-sent.js';

export function SignIn() {
  const brought = entry.value;
  if (brought?.kind === 'link') return <LinkView {...brought} />;
  if (brought?.kind === 'set-password') return <SetPasswordView {...brought} />;
  if (brought?.kind === 'tokens') return <TokensView {...brought} />;
  return <Configured />;
}

function Configured() {
  useEffect(() => {
    void loadConfig();
  }, []);
  if (configError.value)
    return (
      <Frame title={texts.title}>
        <Failed error={configError.value} retry={loadConfig} retryLabel={texts.retry} />
      </Frame>
    );
  return config.value ? <Forms config={config.value} /> : <Loading label={texts.loading} />;
}

type View = 'sign-in' | 'register' | 'reset' | Sent;

function Forms({ config }: { config: SignInConfig }) {
  const [view, setView] = useState<View>('sign-in');
  const back = () => setView('sign-in');
  if (typeof view === 'object') return <MailSent sent={view} onBack={back} />;
  if (view === 'register')
    return (
      <Frame title={texts.registerTitle}>
        <RegisterForm />
        <TextButton onClick={back}>{texts.haveAccount}</TextButton>
      </Frame>
    );
  if (view === 'reset')
    return (
      <Frame title={texts.resetTitle} text={texts.resetHint}>
        <ResetForm onSent={(email) => setView({ purpose: 'reset', email })} />
        <TextButton onClick={back}>{texts.back}</TextButton>
      </Frame>
    );
  return <SignInView config={config} show={setView} />;
}

const HINTS = { dev: texts.devHint, 'magic-link': texts.linkHint, password: undefined } as const;

function SignInView({ config, show }: { config: SignInConfig; show: (view: View) => void }) {
  const { mode, isInviteRequired, passwordResetEnabled, registrationEnabled } = config;
  return (
    <Frame title={texts.title} text={HINTS[mode]}>
      <Notices />
      {mode === 'dev' && <DevForm />}
      {mode === 'magic-link' && <LinkForm onSent={(email) => show({ purpose: 'link', email })} />}
      {mode === 'password' && <PasswordForm />}
      {mode === 'password' && (
        <p class="sign-in-more">
          {passwordResetEnabled ? (
            <TextButton onClick={() => show('reset')}>{texts.forgot}</TextButton>
          ) : (
            <span class="quiet">{texts.askAdmin}</span>
          )}
          {registrationEnabled && <TextButton onClick={() => show('register')}>{texts.createAccount}</TextButton>}
        </p>
      )}
      <Providers />
      {isInviteRequired && mode !== 'dev' && <p class="quiet sign-in-note">{texts.byInvitation}</p>}
    </Frame>
  );
}

/** Why the person sees this form: the session ended, or a provider failed. */
function Notices() {
  const brought = entry.value;
  if (brought?.kind === 'oauth-error')
    return <FormError error={new ApiError(texts.oauthErrors[brought.code] ?? texts.oauthErrorUnknown)} />;
  const reason = endReason.value;
  return reason ? (
    <p role="status" class="sign-in-note">
      {texts.ended[reason]}
    </p>
  ) : null;
}

function Providers() {
  if (providers.value.length === 0) return null;
  return (
    <>
      <p class="sign-in-or">{texts.or}</p>
      <div class="sign-in-providers">
        {providers.value.map(({ id, name, loginUrl }) => (
          // Relative, as a proxy may put the service under a path.
          <a key={id} class="button" href={loginUrl.replace(/^\//, '')} onClick={leaveForProvider}>
            {texts.continueWith(name)}
          </a>
        ))}
      </div>
    </>
  );
}

const TextButton = ({ onClick, children }: { onClick: () => void; children: string }) => (
  <Button variant="ghost" small onClick={onClick}>
    {children}
  </Button>
);
