/**
 * Objects in the console, in a real browser on three real nodes: log-in by access key, folders and large files uploaded while a node is killed,
 * hostile names, versions and undo, links with their QR codes, and where the secret is.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { until } from '../helpers/async.ts'
import { Browser } from '../helpers/browser.ts'
import { HOW_TO_HAVE_ONE } from '../helpers/chromium.ts'
import { ConsoleDriver } from '../helpers/console-driver.ts'
import {
  fitsScreens,
  HOSTILE_NAMES,
  isAccessible,
  loadAxe,
  ranForeign,
  refused,
  traces,
} from '../helpers/console-page.ts'
import { walks } from '../helpers/console-walk.ts'
import { runLine } from '../helpers/printed-line.ts'
import { ProcessCluster, temporaryFolder } from '../helpers/process-cluster.ts'
import { PLAYS_WHOLE } from '../helpers/proof-size.ts'
import { shownCode, textOfCode, type ShownCode } from '../helpers/qr-reader.ts'

const BLOCK_BYTES = 64 * 1024 * 1024
/** Of the large file: 64 MiB, or 1 GiB when the proofs are played whole. */
const BLOCKS = PLAYS_WHOLE ? 16 : 1
const FOLDER_FILES = 12

interface Zone {
  scrollIntoView(): void
  getBoundingClientRect(): { readonly x: number; readonly y: number }
}
interface FileField {
  files: unknown
  dispatchEvent(event: Event): void
}
interface PageGlobals {
  readonly document?: {
    querySelector(selector: '.drop'): Zone | null
    querySelector(selector: string): FileField | null
    querySelectorAll(selector: string): Iterable<{ getAttribute(name: string): string | null; focus(): void }>
  }
  readonly DataTransfer?: new () => { readonly items: { add(file: File): void }; readonly files: unknown }
}

/** Runs in the page: gives the field for files one with these bytes, four at a time from their place. */
function chooseLarge(name: string, size: number, blocks: number): void {
  const { document, DataTransfer } = globalThis as PageGlobals
  const field = document?.querySelector('input[type="file"][aria-label="Choose files"]')
  if (DataTransfer === undefined || !field) throw new Error('There is no field for files')
  const bytes = new Uint8Array(size)
  new Uint32Array(bytes.buffer).forEach((_, n, words) => (words[n] = Math.imul(n, 2654435761)))
  const transfer = new DataTransfer()
  transfer.items.add(
    new File(
      Array.from({ length: blocks }, () => bytes),
      name,
    ),
  )
  field.files = transfer.files
  field.dispatchEvent(new Event('change', { bubbles: true }))
}

function largeDigest(): string {
  const words = new Uint32Array(BLOCK_BYTES / 4)
  words.forEach((_, n) => (words[n] = Math.imul(n, 2654435761)))
  const digest = createHash('sha256')
  for (let n = 0; n < BLOCKS; n++) digest.update(new Uint8Array(words.buffer))
  return digest.digest('hex')
}

/** Runs in the page: where files are dropped. */
function dropPlace(): { readonly x: number; readonly y: number } {
  const zone = (globalThis as PageGlobals).document?.querySelector('.drop')
  zone?.scrollIntoView()
  const { x = 0, y = 0 } = zone?.getBoundingClientRect() ?? {}
  return { x: x + 20, y: y + 10 }
}

/** Runs in the page. */
function hasLine(): boolean {
  const lines = [...((globalThis as PageGlobals).document?.querySelectorAll('.plot .line') ?? [])]
  return lines.some((line) => /L/.test(line.getAttribute('d') ?? ''))
}

/** Runs in the page: what a screen reader says of the cursor of a chart, which gets the focus. */
function statedByCursor(title: string): string {
  const sliders = [...((globalThis as PageGlobals).document?.querySelectorAll('[role="slider"]') ?? [])]
  const found = sliders.find((slider) => slider.getAttribute('aria-label') === title)
  found?.focus()
  return found?.getAttribute('aria-valuetext') ?? ''
}

t.test('objects in Chromium, on three nodes', { timeout: 900_000 }, async (t) => {
  const cluster = await ProcessCluster.start(t, 3)
  const browser = await Browser.start(t)
  if (browser === null) {
    process.stderr.write(`NOT TESTED: objects in the console. ${HOW_TO_HAVE_ONE}\n`)
    return
  }
  const leader = await cluster.leader()
  const serving = cluster.plan.find(({ nodeId }) => nodeId !== leader)
  if (serving === undefined || leader === undefined) throw new Error('there is no leader and follower')
  await cluster.login(serving.nodeId)
  const put = async (key: string, body: string): Promise<void> => {
    const path = `/buckets/letters/objects/${key.split('/').map(encodeURIComponent).join('/')}`
    const { status } = await cluster.call(serving.nodeId, 'PUT', path, Buffer.from(body))
    t.equal(status, 200, key)
  }
  const { accessKeyId, secretKey, ownerToken } = cluster.setup
  if (accessKeyId === null || secretKey === null) throw new Error('there is no access key')
  /** A token of the data API, for lines of the console. */
  const exchanged = async (): Promise<string> => {
    const answer = await fetch(`${serving.adminUrl}/console/data/api/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ accessKeyId, secretKey }),
    })
    return ((await answer.json()) as { readonly token: string }).token
  }
  const driver = await ConsoleDriver.open(browser, serving.adminUrl)
  await loadAxe(driver)
  /** The link that the open dialog shows, which its code holds too, in every theme. */
  const shownLink = async (t: Test): Promise<string> => {
    const [link = ''] = /http:\S+token=\S+/.exec(await driver.text()) ?? []
    for (const theme of ['dark', 'light'] as const) {
      await driver.page.prefer(theme)
      const code = await driver.page.run<ShownCode | null>(shownCode, 'QR code of the link')
      t.match(code, { dark: 'rgb(0, 0, 0)', light: 'rgb(255, 255, 255)' }, theme)
      t.equal(code === null ? null : textOfCode(code), link)
    }
    return link
  }

  await t.test(
    'a wrong key is refused, the right one opens the objects of its tenant and nothing else',
    async (t) => {
      await driver.click('Log in with an access key')
      await driver.fill('Access key id', accessKeyId)
      await driver.fill('Secret key', 'wrong')
      await driver.click('Log in')
      await driver.sees('wrong, expired or revoked')
      await isAccessible(t, driver, 'the log-in')
      await driver.logInWithKey(accessKeyId, secretKey)
      await driver.go('cluster')
      await driver.sees('Create a bucket')
      t.notMatch(await driver.text(), /Health|Operations|Audit/)
    },
  )

  await t.test('a bucket is made, and its screens fit', async (t) => {
    await driver.click('Create a bucket')
    await driver.fill('Name', 'letters')
    await isAccessible(t, driver, 'a dialog')
    await driver.click('Create')
    await driver.click('letters')
    await driver.sees('Nothing is here.')
    await fitsScreens(t, driver, 'an empty bucket')
  })

  await t.test('a dropped folder is stored with its names', async (t) => {
    const folder = join(temporaryFolder(t), 'album')
    mkdirSync(join(folder, 'deep'), { recursive: true })
    for (let n = 0; n < FOLDER_FILES; n++) writeFileSync(join(folder, 'deep', `${n}.txt`), `file ${n}`)
    const at = await driver.page.run<{ readonly x: number; readonly y: number }>(dropPlace)
    await driver.page.drop(at, [folder])
    await driver.sees(`${FOLDER_FILES} done`)
    await driver.sees(`In the bucket: ${FOLDER_FILES} objects`)
    await driver.click('album/')
    await driver.click('deep/')
    await driver.sees(`${FOLDER_FILES} here, all of them shown`)
    const { body } = await cluster.call(serving.nodeId, 'GET', '/buckets/letters/objects/album/deep/3.txt')
    t.equal(body.toString(), 'file 3')
  })

  await t.test('a large file is stored whole although the leader is killed in the middle', async (t) => {
    await driver.go('objects/letters')
    await driver.sees('album/')
    await driver.page.run(chooseLarge, 'large.bin', BLOCK_BYTES, BLOCKS)
    await driver.sees('1 running')
    await cluster.signal(leader, 'SIGKILL')
    t.notMatch(await driver.text(), /13 done/)
    await driver.sees(`${FOLDER_FILES + 1} done`)
    const digest = createHash('sha256')
    for await (const piece of await cluster.open(serving.nodeId, '/buckets/letters/objects/large.bin'))
      digest.update(piece as Buffer)
    t.equal(digest.digest('hex'), largeDigest())
    cluster.startNode(leader)
    await cluster.allReady()
  })

  await t.test('names, texts and tags of others are shown as texts', async (t) => {
    for (const name of HOSTILE_NAMES) await put(`evil/${name}`, name)
    await driver.click('Refresh')
    await driver.click('evil/')
    const [first = ''] = HOSTILE_NAMES
    for (const name of HOSTILE_NAMES.filter((name) => !name.includes('/'))) await driver.sees(name)
    await driver.sees(/\d+ here, all of them shown/)
    const plain = HOSTILE_NAMES.find((name) => name.startsWith('<svg')) ?? first
    await driver.click(plain)
    await driver.sees('ETag')
    await driver.click('Edit tags')
    await driver.fill('Tags', 'name=a b')
    await driver.click('Set tags')
    await driver.sees('name=a b')
    await isAccessible(t, driver, 'an object')
    t.equal(await driver.page.run<unknown>(ranForeign), null)
    await driver.click('Close')
  })

  await t.test(
    'a text is previewed and saved; a deletion is undone; an older version comes back',
    async (t) => {
      await put('diary.txt', 'the first day')
      await put('diary.txt', 'the <script>globalThis.wasRun=1</script> second day')
      await driver.go('objects/letters')
      await driver.click('diary.txt')
      await driver.sees('Versions')
      await driver.click('Download')
      await driver.sees('Downloaded, with the checksums')
      await driver.click('Delete')
      await driver.sees('this can be undone')
      await driver.click('Delete')
      await driver.sees('This object is deleted')
      await driver.click('Undo')
      await driver.sees('ETag')
      const { body } = await cluster.call(serving.nodeId, 'GET', '/buckets/letters/versions?prefix=diary.txt')
      const { versions } = JSON.parse(body.toString()) as {
        readonly versions: readonly { readonly versionId: string; readonly isLatest: boolean }[]
      }
      t.equal(versions.length, 2)
      const older = versions.find(({ isLatest }) => !isLatest)?.versionId.slice(0, 12) ?? ''
      const token = await exchanged()
      t.match(await runLine(await driver.lineOf('Download'), token), /second day/)
      await runLine(await driver.lineOf(`Restore: ${older}`), token)
      await until('the first text is there again', async () => {
        const { body } = await cluster.call(serving.nodeId, 'GET', '/buckets/letters/objects/diary.txt')
        return body.toString() === 'the first day'
      })
      await fitsScreens(t, driver, 'versions')
      await driver.click('Close')
    },
  )

  await t.test(
    'the line of an upload stores a file, and the requests of a screen are those that filled it',
    async (t) => {
      const folder = temporaryFolder(t)
      writeFileSync(join(folder, 'FILE'), 'sent by a shell')
      await driver.go('objects')
      await driver.sees('Create a bucket')
      await driver.go('objects/letters')
      await runLine(await driver.lineOf('Upload'), await exchanged(), folder)
      const { body } = await cluster.call(serving.nodeId, 'GET', '/buckets/letters/objects/FILE')
      t.equal(body.toString(), 'sent by a shell')
      await driver.click('As curl: Upload')
      await driver.sees(/-T FILE/)
      await fitsScreens(t, driver, 'a line')
      await driver.click('Close')
      await driver.click('Requests of this page as curl')
      await driver.click('Show what this screen asks for')
      await driver.sees(/curl -fsS -H [^\n]*\/buckets\/letters\/objects\?/)
      t.notMatch(await driver.text(), /curl [^\n]*\/buckets\?/, 'what another screen asked for is not there')
      await driver.click('Close')
    },
  )

  await t.test('walk: a partner gets a link that takes one upload', async (t) => {
    await driver.go('objects')
    await driver.sees(/Bytes of all versions/i)
    await walks(t, driver, { of: 'make a link that takes one upload', clicksMax: 3 }, async () => {
      await driver.click('letters')
      await driver.click('Link for one upload')
      await driver.fill('Name of the object', 'contract.pdf')
      await driver.fill('MiB at most', '1')
      await driver.click('Make the link')
      await driver.sees('Copy the link now')
    })
    const link = await shownLink(t)
    await fitsScreens(t, driver, 'a link')
    const send = async (body: string): Promise<number> => {
      const answer = await request(link, { method: 'PUT', body })
      await answer.body.dump()
      return answer.statusCode
    }
    t.equal(await send('signed'), 200)
    await send('another')
    const { body } = await cluster.call(serving.nodeId, 'GET', '/buckets/letters/objects/contract.pdf')
    t.equal(body.toString(), 'signed', 'the second upload took no effect')
    await driver.click('Close')
  })

  await t.test('the link of an object opens it, and its code is the same link', async (t) => {
    await driver.click('diary.txt')
    await driver.click('Share by a link')
    await driver.click('Make the link')
    await driver.sees('Copy the link now')
    const answer = await request(await shownLink(t))
    t.equal(await answer.body.text(), 'the first day')
    await driver.click('Close')
    await driver.click('Close')
  })

  await t.test('the secret is nowhere but in memory, and the policy has refused nothing', async (t) => {
    t.same(await driver.page.run<readonly string[]>(refused), [])
    t.notMatch(await driver.page.run<string>(traces), secretKey)
    t.notMatch(await driver.page.run<string>(traces), /svctok_|eyJ/)
    t.equal(await driver.page.run<unknown>(ranForeign), null)
  })

  await t.test('walk: an operator finds who deleted an object', async (t) => {
    await driver.click('Log out')
    await driver.logIn(ownerToken)
    await walks(t, driver, { of: 'who deleted an object', clicksMax: 2 }, async () => {
      await driver.click('Audit')
      await driver.fill('Operation, such as deleteObject', 'deleteObject')
      await driver.fill('Object key begins with', 'diary.txt')
      await driver.click('Search')
      await driver.sees(/deleteObject demo \/ letters \/ diary\.txt/)
    })
    t.match(await driver.text(), accessKeyId)
  })

  await t.test('charts show the last minutes of all nodes: lines, keys, a table', async (t) => {
    await driver.click('Charts')
    await driver.sees(/Process\s+[\d.]+ [MG]iB/)
    await driver.sees(/Size\s+[\d.]+ [GT]iB/)
    t.notMatch(await driver.text(), /no answer/)
    const isDrawn = (): Promise<boolean> => driver.page.run<boolean>(hasLine)
    await until('a line has two points', isDrawn)
    const stated = async (): Promise<string> => driver.page.run<string>(statedByCursor, 'Memory')
    const before = await stated()
    await driver.page.press('ArrowLeft')
    await until('the cursor has moved', async () => (await stated()) !== before)
    t.match(await stated(), /^\d\d:\d\d:\d\d: Process .*, JavaScript heap /)
    await driver.fill('Nodes', serving.nodeId)
    await driver.click('As a table: Memory')
    await driver.sees(/Time\s+Process\s+JavaScript heap/)
    await fitsScreens(t, driver, 'charts')
    t.same(await driver.page.run<readonly string[]>(refused), [])
  })
})
