/** Alerts: the rules with their webhook, and the alerts they raised. */
import { useEffect } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Failed, Loading } from '../../shared/components/states.js';
import { texts } from '../texts.js';
import { failure, loadAlerts, policy, refreshHistory } from './alerts-state.js';
import { History } from './history.js';
import { Rules } from './rules.js';
import { Webhook } from './webhook.js';

const REFRESH_MS = 15_000;

export function Alerts() {
  useEffect(() => {
    void loadAlerts();
    const timer = setInterval(() => document.visibilityState === 'visible' && void refreshHistory(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  if (failure.value !== undefined && !policy.value)
    return <Failed error={messageOf(failure.value)} retry={() => void loadAlerts()} />;
  if (!policy.value) return <Loading />;
  return (
    <main class="alerts">
      <div>
        <h2 class="view-title">{texts.alerts.title}</h2>
        <p class="quiet">{texts.alerts.intro}</p>
      </div>
      <Webhook policy={policy.value} />
      <Rules policy={policy.value} />
      <History />
    </main>
  );
}
