/**
 * Pages of the guide are typed by test/process/guide.test.ts, so each has lines to type.
 *
 * Owns: which pages need none, and how many blocks the others need. Knows nothing of: the disk, what a line does.
 */
import type { Finding, SourceFile } from './tidy-rules.ts'

const GUIDE = 'docs/guide/'
/** Settings of proxies, of key providers and of identity providers, which no line of a shell shows; the disks of a machine; and pages with a test of their own. */
export const UNTYPED_PAGES: readonly string[] = [
  'README.md',
  'backups.md',
  'console.md',
  'log-in.md',
  'disks.md',
  'master-key.md',
  'proxies-and-floods.md',
  'replication.md',
  'three-machines.md',
]
const BLOCKS_MIN = 4

export function checkGuide(pages: readonly SourceFile[]): readonly Finding[] {
  return pages
    .filter(({ path }) => path.startsWith(GUIDE) && !UNTYPED_PAGES.includes(path.slice(GUIDE.length)))
    .map(({ path, text }) => ({ path, blocks: text.match(/^```sh\b/gm)?.length ?? 0 }))
    .filter(({ blocks }) => blocks < BLOCKS_MIN)
    .map(({ path, blocks }) => ({
      path,
      message: `has ${blocks} blocks that begin with \`\`\`sh: give it ${BLOCKS_MIN} that test/process/guide.test.ts can type, or add the page to UNTYPED_PAGES with the reason`,
    }))
}
