/** The page of a public link: the report of its site, without sign-in and without what needs one. */
import { useEffect } from 'preact/hooks';
import { Failed } from '../../shared/components/states.js';
import { ReportView } from '../report/report-view.js';
import { Brand } from '../sign-in/sign-in.js';
import { loaded, loadReport, trouble } from '../state/report.js';
import { site } from '../state/selection.js';
import { texts } from '../texts.js';
import { startShared } from './follow-shared.js';

export function SharedReport() {
  useEffect(startShared, []);
  return (
    <div id="dashboard">
      <header class="bar">
        <p class="brand">
          <Brand />
          <span>{texts.title}</span>
        </p>
      </header>
      {trouble.value && !loaded.value ? (
        <main>
          <Failed error={trouble.value} retry={() => void loadReport()} retryLabel={texts.tryAgain} />
        </main>
      ) : (
        site.value && <ReportView site={site.value} />
      )}
    </div>
  );
}
