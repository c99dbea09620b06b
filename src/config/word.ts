import Type from 'typebox';

/** A setting that takes one of some words. */
export function Word<const T extends readonly string[]>(
  words: T,
  options: { default: T[number]; description: string },
) {
  return Type.Unsafe<T[number]>(Type.Enum([...words], options));
}
