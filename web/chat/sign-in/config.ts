/** How people sign in on this server, as the service says. */
import { signal } from '@preact/signals';
import { createHttp, messageOf } from '../../shared/api/http.js';

export interface SignInConfig {
  readonly mode: 'dev' | 'magic-link' | 'password';
  readonly hasEmail: boolean;
  readonly isInviteRequired: boolean;
  readonly oauthEnabled: boolean;
  readonly passwordResetEnabled: boolean;
  readonly registrationEnabled: boolean;
}

export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly loginUrl: string;
}

/** Requests without a session. */
export const guest = createHttp();

export const config = signal<SignInConfig | undefined>(undefined);
export const providers = signal<readonly Provider[]>([]);
export const configError = signal<string | undefined>(undefined);

/** Loads the configuration once; again after a failure. */
export async function loadConfig(): Promise<void> {
  if (config.value) return;
  configError.value = undefined;
  try {
    const { auth } = await guest.json<{ auth: SignInConfig }>('GET', 'config.json');
    config.value = auth;
    if (!auth.oauthEnabled) return;
    const answer = await guest.json<{ providers: readonly Provider[] }>('GET', 'auth/oauth/providers');
    providers.value = answer.providers;
  } catch (error) {
    configError.value = messageOf(error);
  }
}
