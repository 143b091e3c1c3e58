/**
 * What a browser finds on the admin listener: the console at /console/, the documentation at /docs/, and at the root a page that says where they are.
 */
import type { Pages } from '../plane.ts'
import { originForm, pathOf } from '../request-target.ts'
import { ConsolePages } from './console-pages.ts'
import { Documentation } from './documentation.ts'
import type { PackedPages } from './packed-pages.ts'
import { icon, isAskedByBrowser, isIconAsked, smallPage } from './small-page.ts'

const ICON = '/favicon.ico'

const FRONT = smallPage(
  'Holdfast: admin listener',
  `<p>This is the admin listener of a Holdfast object store. Operators use it with an admin token; objects are at the data listener.</p>
<ul>
<li><a href="/console/">Console</a>: health, members, operations, tenants, audit log</li>
<li><a href="/docs/">Documentation</a>: guide, runbooks, reference of commands and APIs, search</li>
<li>Admin API: <code>/admin/api/v1/</code>, described by <a href="/admin/api/v1/openapi.json">/admin/api/v1/openapi.json</a></li>
<li>State of this node: <a href="/readyz">/readyz</a>; figures for Prometheus: <code>/metrics</code></li>
</ul>`,
)

export function adminPages(
  documentation: Documentation = new Documentation(),
  consolePages: ConsolePages = new ConsolePages(),
): Pages {
  const sites: readonly (readonly [string, PackedPages])[] = [
    ['/docs', documentation],
    ['/console', consolePages],
  ]
  return {
    open: sites.flatMap(([root]) => [root, `${root}/*`]),
    asked: ['/', ICON],
    answer: (_, request) => {
      const path = pathOf(originForm(request.originalUrl))
      if (path === '/') return isAskedByBrowser(request) ? Promise.resolve(FRONT) : null
      if (path === ICON) return isIconAsked(request) ? Promise.resolve(icon()) : null
      for (const [root, site] of sites) {
        if (path === root)
          return Promise.resolve({ kind: 'empty', status: 308, headers: { location: `${root}/` } })
        if (path.startsWith(`${root}/`)) return site.answerTo(path.slice(root.length + 1), request.headers)
      }
      return null
    },
  }
}
