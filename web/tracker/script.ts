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

const script = document.currentScript as HTMLScriptElement;
const { site, endpoint, auto, spa, clicks } = script.dataset;
const collect = endpoint ? new URL(endpoint, document.baseURI) : new URL('api/collect', script.src);

/** That of the view told last: what makes History say the same path again is no other view. */
let last: string | undefined;

/** As a beacon, which outlives the page, and as text, which no browser asks about first. */
function send(hit: object): void {
  // Looked at each time: people change their minds.
  if (!site || navigator.doNotTrack === '1' || navigator.globalPrivacyControl) return;
  const { hostname: host, pathname: path } = location;
  const body = JSON.stringify({ site, host, path, ...hit });
  if (navigator.sendBeacon?.(collect, body)) return;
  fetch(collect, { method: 'POST', body, keepalive: true, credentials: 'omit' }).catch(() => {});
}

function event(name: string, properties?: Properties): void {
  send({ kind: 'event', event: name, properties });
}

/** Where somebody came from is told with their first view only: each time it is told, it counts. */
function pageview(): void {
  const arrived = last === undefined && { referrer: document.referrer, campaign: campaign() };
  last = location.pathname;
  send({ kind: 'pageview', ...arrived });
}

function campaign() {
  const asked = new URLSearchParams(location.search);
  const given = ['utm_source', 'utm_medium', 'utm_campaign'].map((name) => [name, asked.get(name) ?? '']);
  return Object.fromEntries(given);
}

function viewed(): void {
  if (last !== location.pathname) pageview();
}

function watchHistory(): void {
  for (const name of ['pushState', 'replaceState'] as const) {
    const change = history[name];
    history[name] = function (this: History, ...to) {
      change.apply(this, to);
      viewed();
    };
  }
  addEventListener('popstate', viewed);
}

/** `data-annals-event="Sign up"` on what is clicked or around it, with `data-annals-prop-plan="pro"`. */
function clicked({ target }: MouseEvent): void {
  const named = target instanceof Element && target.closest('[data-annals-event]');
  if (!named) return;
  const properties: { [name: string]: string } = {};
  for (const { name, value } of named.attributes)
    if (name.startsWith(PROPERTY)) properties[name.slice(PROPERTY.length)] = value;
  event(named.getAttribute('data-annals-event') ?? '', properties);
}

const sites = window.annals?.sites ?? [];

function begin(): void {
  sites.push(site);
  window.annals = { event, pageview, sites };
  // What stops clicks on their way up stops them after this.
  if (clicks !== 'false') addEventListener('click', clicked, true);
  if (auto === 'false') return;
  if (document.prerendering) document.addEventListener('prerenderingchange', viewed, { once: true });
  else viewed();
  if (spa !== 'false') watchHistory();
}

// A page that has the tag twice, or puts it in again with each part it loads, is not counted twice for it.
if (!sites.includes(site)) begin();

export {};
