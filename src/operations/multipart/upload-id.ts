/**
 * The form of upload ids, which distinguishes a path that names an upload from an object key. [decisions 16]
 *
 * Rule: what is not of this form names no upload, and is never looked up as one.
 */
export const UPLOAD_ID: RegExp = /^mpu_[0-9A-Za-z]{26}$/

export function isUploadId(text: string): boolean {
  return UPLOAD_ID.test(text)
}
