/** Entry point of the page. */
import { render } from 'preact';
import { Loading } from '../shared/components/states.js';
import { Toasts } from '../shared/components/toasts.js';
import { byId } from '../shared/dom.js';
import { texts } from './texts.js';

document.title = texts.title;

const App = () => (
  <>
    <Loading />
    <Toasts />
  </>
);

render(<App />, byId('app'));
