/**
 * The console as a node serves it: where its archive lies, what the page may load, what is answered without one.
 *
 * Rule: the page loads and calls this listener alone, and no text becomes markup or code in it: its policy asks browsers to refuse both.
 */
import type { Answer } from '../route.ts'
import { type LoadSite, PackedPages, siteAt } from './packed-pages.ts'
import { smallPage } from './small-page.ts'

/** In the bundle, or where a checkout has it. */
const PLACES = ['./console-site.pack', '../../../dist/bundle/console-site.pack']

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

export class ConsolePages extends PackedPages {
  constructor(load: LoadSite = siteAt(PLACES)) {
    super(load, { policy: PAGE_POLICY, noSuchPage: NO_SUCH_FILE, notBuilt: NOT_BUILT })
  }
}

const NO_SUCH_FILE: Answer = {
  ...smallPage(
    'No such file',
    '<p>The console has no such file; a page of another version may have asked for it. Load <a href="/console/">/console/</a> again.</p>',
  ),
  status: 404,
}

const NOT_BUILT: Answer = {
  ...smallPage(
    'No console here',
    '<p>This build of Holdfast contains no console: packages contain it; in a clone <code>npm run build</code> makes it, and this node shows it from then on.</p>',
  ),
  status: 404,
}
