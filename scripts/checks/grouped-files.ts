/**
 * `node grouped-files.ts MS FILE...`: runs test files one after the other in this process, each as a subtest of its name
 * with a limit of that many milliseconds.
 *
 * Owns: what a file gets as `tap`: its own subtest, so that its teardown is over before the next file loads. Tells the runner which file starts.
 * Rule: only files that scripts/checks/test-groups.ts lets share a process.
 */
import './promise-hooks.ts'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { current, setCurrent } from './current-test.ts'
import { CHILD_KEY } from './test-process.ts'

const [limit = '', ...files] = process.argv.slice(2)
const urls = new Map(files.map((file) => [file, pathToFileURL(resolve(file)).href]))
const isTestFile = new Set(urls.values())
const TAP = new URL('grouped-tap.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'tap' || !isTestFile.has(context.parentURL ?? '')) return next(specifier, context)
    // One module for each file: it holds the subtest of that file.
    return { url: `${TAP}?of=${encodeURIComponent(context.parentURL ?? '')}`, shortCircuit: true }
  },
})

// In place of tap's own search for the subtest of such an error, which promise-hooks.ts takes its hooks from.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => current.threw(error))
// The limit is that of a file, not of all.
t.setTimeout(0)
for (const [file, url] of urls) {
  process.send?.({ key: CHILD_KEY, file })
  await t.test(file, { timeout: Number(limit) }, async (subtest) => {
    setCurrent(subtest)
    await import(url)
  })
}
