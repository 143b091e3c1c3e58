/**
 * `npm run build`: the bundle of this checkout, in dist/bundle, unless it is there.
 *
 * Rule: standard output stays empty, because programs build before they start.
 */
import { ROOT } from '../supply-chain/lockfile.ts'
import { bundleOf, isFresh, STAMP, stampOf } from './node-program.ts'

// Before the sources are read: one that changes meanwhile counts as changed afterwards.
const stamp = stampOf(ROOT)
if (!isFresh(ROOT, stamp)) {
  const { bundle } = await import('./bundle.ts')
  bundle(ROOT, bundleOf(ROOT), { [STAMP]: stamp })
}
