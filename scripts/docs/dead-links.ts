/**
 * Which links of a site lead nowhere: files that are not in it, and anchors that their page does not have.
 *
 * Knows nothing of: how pages are made; it reads their HTML.
 */
import { posix } from 'node:path'

type Files = ReadonlyMap<string, { readonly bytes: Buffer }>

const LINK = /<(?:a|link|img|script)\b[^>]*?\s(?:href|src|data-index)="([^"]*)"/g
const ID = /\sid="([^"]*)"/g

/** One sentence for each, in the order of the pages. */
export function deadLinks(site: Files): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>()
  for (const [path, { bytes }] of site)
    if (path.endsWith('.html'))
      anchors.set(path, new Set([...bytes.toString().matchAll(ID)].map((match) => plain(match[1] ?? ''))))
  return [...anchors.keys()].flatMap((path) =>
    linksOf(site.get(path)?.bytes.toString() ?? '').flatMap((link) => {
      const fault = faultOf(link, path, { site, anchors })
      return fault === null ? [] : [`${path}: "${link}" ${fault}`]
    }),
  )
}

const linksOf = (html: string): readonly string[] =>
  [...html.matchAll(LINK)].map((match) => plain(match[1] ?? ''))

const plain = (html: string): string =>
  html
    .replace(/&#(\d+);/g, (_, number: string) => String.fromCharCode(Number(number)))
    .replaceAll('&amp;', '&')

function faultOf(
  link: string,
  from: string,
  known: { readonly site: Files; readonly anchors: ReadonlyMap<string, ReadonlySet<string>> },
): string | null {
  if (/^[a-z]+:/.test(link)) return null
  const [file = '', anchor] = link.split('#')
  const joined = file === '' ? from : posix.join(posix.dirname(from), file)
  if (joined.startsWith('../')) return 'leaves the site'
  const target = joined.endsWith('/') || joined === '.' ? posix.join(joined, 'index.html') : joined
  if (!known.site.has(target)) return 'is no file of the site'
  if (anchor === undefined || anchor === '') return null
  return known.anchors.get(target)?.has(decodeURIComponent(anchor)) === true
    ? null
    : 'is no heading of its page'
}
