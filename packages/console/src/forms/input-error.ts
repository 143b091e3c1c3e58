/** The fields of a form cannot be sent as they are; the message says why to the person who filled them in. */
export class InputError extends Error {
  override name = 'InputError'
}
