/** The tracker: pages of any origin load it, and it tells of the views and events on them. It keeps nothing with anybody. */

/** What applies of them is for the site to say. */
type Properties = { readonly [name: string]: string | number | boolean };

declare global {
  interface Window {
    annals?: {
      event(name: string, properties?: Properties): void;
      pageview(): void;
      /** That are told of this page. */
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

/** What fails here is no business of the page: it throws nothing, and reports no error. */
const safely =
  <Args extends readonly unknown[]>(act: (...args: Args) => void) =>
  (...args: Args): void => {
    try {
      act(...args);
    } catch {
      // Nothing is counted.
    }
  };

// Where it is loaded as a module no script is the current one.
const script = (document.currentScript ?? document.querySelector('script[data-site]')) as HTMLScriptElement | null;
const { site, endpoint, auto, spa, clicks } = script?.dataset ?? {};
let collect: URL | undefined;
safely(() => {
  collect = endpoint ? new URL(endpoint, document.baseURI) : new URL('api/collect', script?.src);
})();

/** That of the view told last: what makes History say the same path again is no other view. */
let last: string | undefined;

/** As a beacon, which outlives the page, and as text, which no browser asks about first. */
function send(hit: object): void {
  // Looked at each time: people change their minds.
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

/** Where somebody came from is told with their first view only: each time it is told, it counts. */
const pageview = safely(() => {
  const arrived = last === undefined && { referrer: referrer(), campaign: campaign() };
  last = location.pathname;
  send({ kind: 'pageview', ...arrived });
});

/** The origin alone: a path or query may tell who somebody is. Apps have schemes of their own. */
const referrer = () => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(document.referrer)?.[0] ?? '';

function campaign() {
  const asked = new URLSearchParams(location.search);
  const given = ['utm_source', 'utm_medium', 'utm_campaign'].map((name) => [name, asked.get(name) ?? '']);
  return Object.fromEntries(given);
}

const viewed = safely(() => {
  if (last !== location.pathname) pageview();
});

function watchHistory(): void {
  for (const name of ['pushState', 'replaceState'] as const)
    safely(() => {
      const change = history[name];
      if (typeof change !== 'function') return;
      history[name] = function (this: History, ...to) {
        // What it throws is for the page, which called it.
        change.apply(this, to);
        viewed();
      };
    })();
  addEventListener('popstate', viewed);
}

/** `data-annals-event="Sign up"` on what is clicked or around it, with `data-annals-prop-plan="pro"`. */
const clicked = safely(({ target }: MouseEvent) => {
  const named = target instanceof Element && target.closest('[data-annals-event]');
  if (!named) return;
  const properties: { [name: string]: string } = {};
  for (const { name, value } of named.attributes)
    if (name.startsWith(PROPERTY)) properties[name.slice(PROPERTY.length)] = value;
  event(named.getAttribute('data-annals-event') ?? '', properties);
});

safely(() => {
  const known = window.annals?.sites;
  const sites = Array.isArray(known) ? known : [];
  // A page that has the tag twice, or puts it in again with each part it loads, is not counted twice for it.
  if (sites.includes(site)) return;
  sites.push(site);
  window.annals = { event, pageview, sites };
  // What stops clicks on their way up stops them after this.
  if (clicks !== 'false') addEventListener('click', clicked, true);
  if (auto === 'false') return;
  if (document.prerendering) document.addEventListener('prerenderingchange', viewed, { once: true });
  else viewed();
  if (spa !== 'false') watchHistory();
})();

export {};
