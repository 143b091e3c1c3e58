/**
 * Whether the node serves another build of the console than this page is, as after an upgrade.
 *
 * Rules: the page continues with what it is until its user reloads it, so that no form is lost; nothing asks by a timer: it looks when the node
 * answers again after it did not, when the versions of the members change, and when the page is looked at again.
 */
import { effect, signal } from '@preact/signals'
import { type Build, buildOf, type Difference, differenceOf } from '../judge/build.ts'
import { membership } from './cluster-data.ts'
import { answersAgain } from './requests.ts'

export interface OtherBuild {
  readonly difference: Difference
  readonly own: string
  readonly served: string
}

/** null: the node serves this page. */
export const otherBuild = signal<OtherBuild | null>(null)

const PAGE = '/console/'
/** More than the page has: what is longer is something else. */
const PAGE_CHARS_MAX = 100_000

const own: Build | null = buildOf(document.documentElement.outerHTML)
let isLooking = false

async function look(): Promise<void> {
  if (own === null || isLooking) return
  isLooking = true
  try {
    const answer = await fetch(PAGE, { cache: 'no-cache' })
    const html = answer.ok ? await answer.text() : ''
    const served = html.length > PAGE_CHARS_MAX ? null : buildOf(html)
    // A node that says nothing of it, as one that stops, changes nothing of what is known.
    if (served !== null) {
      const difference = differenceOf(own, served)
      otherBuild.value = difference === null ? null : { difference, own: own.version, served: served.version }
    }
  } catch {
    // It does not answer: the screens say so.
  }
  isLooking = false
}

effect(() => {
  if (answersAgain.value > 0) void look()
})

let versions = ''
effect(() => {
  const members = membership.value.value?.members ?? []
  const now = members.map(({ nodeId, version }) => `${nodeId} ${version ?? ''}`).join()
  if (versions !== '' && now !== '' && now !== versions) void look()
  versions = now === '' ? versions : now
})

document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void look()
})
