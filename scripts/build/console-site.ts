/**
 * The console as a site of four files: the page, one script, one style, the icon (docs/adr/0093-console.md).
 *
 * Rules: names of script, style and icon change with their bytes, so that browsers may keep them; equal sources give equal files; types are not
 * checked here.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { packSite, type SiteFile } from '../../src/api/pages/site-archive.ts'

/** In the bundle of a node. */
export const CONSOLE_ARCHIVE = 'console-site.pack'
/** Packages inside the script; their licences are beside the bundle. */
export const IN_CONSOLE = ['preact', '@preact/signals', '@preact/signals-core', 'uqr']
const FOLDER = join('packages', 'console')

/** Older checkouts have none. */
export const hasConsole = (root: string): boolean => existsSync(join(root, FOLDER))

export const consolePack = (root: string): Buffer => packSite(consoleSite(root), { withBrotli: true })

/** Throws when a source is no TypeScript. */
export function consoleSite(root: string): ReadonlyMap<string, SiteFile> {
  const site = new Map<string, SiteFile>()
  const keep = (name: string, ending: string, type: string, bytes: Buffer): string => {
    const path = `${name}.${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.${ending}`
    site.set(path, { type, bytes })
    return path
  }
  const { script, style } = built(root)
  const names: Readonly<Record<string, string>> = {
    script: keep('console', 'js', 'text/javascript; charset=utf-8', script),
    style: keep('console', 'css', 'text/css; charset=utf-8', style),
    version: versionOf(root),
    icon: keep('icon', 'svg', 'image/svg+xml', readFileSync(join(root, FOLDER, 'src', 'icon.svg'))),
  }
  const page = readFileSync(join(root, FOLDER, 'src', 'index.html'), 'utf8')
  const html = page.replace(/\{(script|style|icon|version)\}/g, (_, name: string) => names[name] ?? '')
  site.set('index.html', { type: 'text/html; charset=utf-8', bytes: Buffer.from(html) })
  return site
}

function versionOf(root: string): string {
  const { version = '0.0.0' } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version?: string
  }
  return version
}

function built(root: string): { readonly script: Buffer; readonly style: Buffer } {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: {
      console: join(FOLDER, 'src', 'main.tsx'),
      style: join(FOLDER, 'src', 'style', 'style.css'),
    },
    outdir: join(root, 'dist'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  })
  const named = (ending: string): Buffer => {
    const file = outputFiles.find(({ path }) => path.endsWith(ending))
    if (file === undefined) throw new Error(`The build of the console gave no ${ending} file`)
    return Buffer.from(file.contents)
  }
  return { script: named('.js'), style: named('.css') }
}
