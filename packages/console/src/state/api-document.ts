/**
 * The two documents of the API: that of the admin plane from the plane itself, that of the data plane from the documentation, which this listener has.
 */
import { signal } from '@preact/signals'
import { InputError } from '../forms/input-error.ts'
import type { ApiDocument } from '../words/api-words.ts'
import { TEXT } from '../words/strings.ts'
import { openResource } from './resource.ts'

export const PLANES = ['admin', 'data'] as const
export type Plane = (typeof PLANES)[number]

const PLACE: Readonly<Record<Plane, string>> = {
  admin: '/admin/api/v1/openapi.json',
  data: '/docs/openapi/data.json',
}

/** Which one `apiDocument` loads. */
export const plane = signal<Plane>('admin')

export const apiDocument = openResource(async (): Promise<ApiDocument> => {
  const place = PLACE[plane.peek()]
  const answer = await fetch(place)
  if (answer.status === 404) throw new InputError(TEXT.api.noDocument)
  if (!answer.ok) throw new Error(`${place} was answered with ${answer.status}`)
  return (await answer.json()) as ApiDocument
})
