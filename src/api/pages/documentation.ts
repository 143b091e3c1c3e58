/**
 * The documentation as a node serves it: where its archive lies, what its pages may load, what is answered without one.
 */
import type { Answer } from '../route.ts'
import { type LoadSite, PackedPages, siteAt } from './packed-pages.ts'
import { smallPage } from './small-page.ts'

/** Beside the bundle, or where a checkout has it. */
const PLACES = ['../docs/site.pack', '../../../dist/docs/site.pack']

/** Nothing from elsewhere, no script or style in a page, no page in a frame. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export class Documentation extends PackedPages {
  constructor(load: LoadSite = siteAt(PLACES)) {
    super(load, { policy: PAGE_POLICY, noSuchPage: NO_SUCH_PAGE, notBuilt: NOT_BUILT })
  }
}

const NO_SUCH_PAGE: Answer = {
  ...smallPage(
    'No such page',
    '<p>The documentation has no such page. It begins at <a href="/docs/">/docs/</a>.</p>',
  ),
  status: 404,
}

const NOT_BUILT: Answer = {
  ...smallPage(
    'No documentation here',
    '<p>This build of Holdfast contains no documentation. Packages contain it; in a clone <code>npm run docs</code> makes it, and this node shows it from then on.</p>',
  ),
  status: 404,
}
