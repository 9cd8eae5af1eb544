/** The report of a site: totals, chart, live hits and lists. */
import { Button } from '../../shared/components/button.js';
import type { Site } from '../contract.js';
import { day } from '../formatting.js';
import { LiveView } from '../live/live-view.js';
import { shareToken } from '../share/share-token.js';
import { Install } from '../sites/install.js';
import { listSites, listTrouble } from '../state/dashboard.js';
import { hasHits, isBusy, loaded, loadReport, trouble } from '../state/report.js';
import { isInstallOpen } from '../state/selection.js';
import { periodTexts, reportTexts, texts } from '../texts.js';
import { FilterBar } from './filter-bar.js';
import { ListCard } from './list-card.js';
import { GROUPS } from './lists-of.js';
import { PeriodPicker } from './period-picker.js';
import { SeriesCard } from './series-card.js';
import { Totals } from './totals.js';

export function ReportView({ site }: { site: Site }) {
  const current = loaded.value?.site === site.id ? loaded.value : undefined;
  const report = current?.report;
  const error = trouble.value || listTrouble.value;
  return (
    <main id="report" aria-busy={isBusy.value}>
      <header>
        <div class="heading">
          <h1>
            <bdi id="name">{report?.name ?? site.name}</bdi>
          </h1>
          <p id="range" class="quiet" role="status">
            {report
              ? periodTexts.between(day(report.range.start), day(report.range.end))
              : !error && reportTexts.counting}
          </p>
        </div>
        <PeriodPicker />
      </header>
      {error && <Trouble text={error} />}
      {isInstallOpen.value && <Install key={site.id} site={site} />}
      <FilterBar report={report} />
      {report && <Totals report={report} />}
      {report && !hasHits(report) && (
        <p id="nothing" class="card quiet">
          {reportTexts.nothing}
        </p>
      )}
      <div id="pair">
        {current && hasHits(current.report) && <SeriesCard current={current} />}
        {shareToken === undefined && <LiveView />}
      </div>
      {current && hasHits(current.report) && (
        <div id="lists">
          {GROUPS.map((group) => (
            <ListCard key={group.id} group={group} current={current} />
          ))}
        </div>
      )}
    </main>
  );
}

const Trouble = ({ text }: { text: string }) => (
  <p id="trouble" class="card trouble" role="alert">
    <span>{text}</span>
    <Button small onClick={() => void (shareToken === undefined ? listSites() : loadReport())}>
      {texts.tryAgain}
    </Button>
  </p>
);
