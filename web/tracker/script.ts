/** Tracker script: loaded by pages of any origin, sends page views and events. Stores nothing in the browser. */

/** The site settings define which properties are counted. */
type Properties = { readonly [name: string]: string | number | boolean };

declare global {
  interface Window {
    annals?: {
      event(name: string, properties?: Properties): void;
      pageview(): void;
      /** Site ids already tracked on this page. */
      readonly sites: (string | undefined)[];
    };
  }
  interface Navigator {
    readonly globalPrivacyControl?: boolean;
  }
  interface Document {
    readonly prerendering?: boolean;
  }
}

const PROPERTY = 'data-annals-prop-';

/** Swallows errors, so that the tracker never breaks or logs on the host page. */
const safely =
  <Args extends readonly unknown[]>(act: (...args: Args) => void) =>
  (...args: Args): void => {
    try {
      act(...args);
    } catch {
      // The hit is lost.
    }
  };

// `currentScript` is null in modules.
const script = (document.currentScript ?? document.querySelector('script[data-site]')) as HTMLScriptElement | null;
const { site, endpoint, auto, spa, clicks } = script?.dataset ?? {};
let collect: URL | undefined;
safely(() => {
  collect = endpoint ? new URL(endpoint, document.baseURI) : new URL('api/collect', script?.src);
})();

/** Path of the last sent view; History changes to the same path are ignored. */
let lastPath: string | undefined;

/** Sends a beacon, which outlives the page, as plain text, which needs no CORS preflight. */
function send(hit: object): void {
  // Checked on every hit, as the settings may change while the page is open.
  if (!site || !collect || navigator.doNotTrack === '1' || navigator.globalPrivacyControl) return;
  const to = collect;
  const { hostname: host, pathname: path } = location;
  const body = JSON.stringify({ site, host, path, ...hit });
  let isSent = false;
  safely(() => {
    isSent = navigator.sendBeacon(to, body);
  })();
  if (!isSent) fetch(to, { method: 'POST', body, keepalive: true, credentials: 'omit' }).catch(() => {});
}

const event = safely((name: string, properties?: Properties) => {
  if (typeof name !== 'string' || name.trim() === '') return;
  const isObject = Object(properties) === properties && !Array.isArray(properties);
  send({ kind: 'event', event: name, ...(isObject && { properties }) });
});

/**
 * Referrer and campaign are sent with the first view only, as every occurrence counts; later ones come from the page
 * itself, so they are no entries.
 */
const pageview = safely(() => {
  const source =
    lastPath === undefined ? { referrer: referrer(), campaign: campaign() } : { referrer: location.origin };
  lastPath = location.pathname;
  send({ kind: 'pageview', ...source });
});

/** Origin only, as paths and queries may identify a visitor. Allows app schemes. */
const referrer = () => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(document.referrer)?.[0] ?? '';

function campaign() {
  const query = new URLSearchParams(location.search);
  const parameters = ['utm_source', 'utm_medium', 'utm_campaign'].map((name) => [name, query.get(name) ?? '']);
  return Object.fromEntries(parameters);
}

const sendViewIfChanged = safely(() => {
  if (lastPath !== location.pathname) pageview();
});

function watchHistory(): void {
  for (const name of ['pushState', 'replaceState'] as const)
    safely(() => {
      const change = history[name];
      if (typeof change !== 'function') return;
      history[name] = function (this: History, ...to) {
        // Exceptions belong to the calling page.
        change.apply(this, to);
        sendViewIfChanged();
      };
    })();
  addEventListener('popstate', sendViewIfChanged);
}

/** Handles clicks in elements with `data-annals-event="Sign up"` and optional `data-annals-prop-plan="pro"`. */
const sendClick = safely(({ target }: MouseEvent) => {
  const source = target instanceof Element && target.closest('[data-annals-event]');
  if (!source) return;
  const properties: { [name: string]: string } = {};
  for (const { name, value } of source.attributes)
    if (name.startsWith(PROPERTY)) properties[name.slice(PROPERTY.length)] = value;
  event(source.getAttribute('data-annals-event') ?? '', properties);
});

safely(() => {
  const tracked = window.annals?.sites;
  const sites = Array.isArray(tracked) ? tracked : [];
  // Pages may include the tag several times; count them once.
  if (sites.includes(site)) return;
  sites.push(site);
  window.annals = { event, pageview, sites };
  // Capture phase, so that `stopPropagation` in the page does not hide clicks.
  if (clicks !== 'false') addEventListener('click', sendClick, true);
  if (auto === 'false') return;
  if (document.prerendering) document.addEventListener('prerenderingchange', sendViewIfChanged, { once: true });
  else sendViewIfChanged();
  if (spa !== 'false') watchHistory();
})();

export {};
