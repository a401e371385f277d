/** Numbers from 0 up to but not 1, the same in every run of a seed. */
export type Random = () => number;

/** A small generator of 32 bits (mulberry32): good enough to scatter, and quick. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 to `below - 1`. */
export function pick(random: Random, below: number): number {
  return Math.floor(random() * below);
}

const onsets =
  'b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p ph pl pr qu r s sc sh sk sl sp st str t th tr v w wh z'.split(
    ' ',
  );
const rimes = 'a e i o u y ai ea ee oo ou an en in on un ar er ir or ur al el il ol ack ess ing ight ost ump ave'.split(
  ' ',
);
const syllables = onsets.flatMap((onset) => rimes.map((rime) => onset + rime));
const hanzi = [...'数据库记忆分支合并提交历史版本用户设置错误测试文件服务器网络缓存索引搜索同步权限密钥'];

/** Words of the vocabulary: few are used all the time, most hardly ever, as in any language. */
const vocabulary = 30_000;
const oneSyllableMax = 600;
/** The most frequent words, most frequent first. */
export const frequentWords = ['the', 'of', 'and', 'to', 'in', 'is'] as const;

/** The word of a rank: the frequent ones have one syllable, the others two. */
function wordOf(rank: number): string {
  const frequent = frequentWords[rank];
  if (frequent !== undefined) return frequent;
  // Steps that share no factor with the number of syllables, so that neighbours in rank do not look alike.
  const first = syllables[(rank * 577) % syllables.length] ?? '';
  return rank < oneSyllableMax
    ? first
    : first + (syllables[(rank * 331 + Math.floor(rank / 7)) % syllables.length] ?? '');
}

/** A code token as they stand in notes of agents. */
function codeToken(random: Random): string {
  const stem = wordOf(6 + pick(random, 4_000));
  const kinds = [
    `src/${stem}/open.ts:${pick(random, 900)}`,
    `ERR_${stem.toUpperCase()}`,
    `${stem}-core@${pick(random, 20)}.1.0`,
  ];
  return kinds[pick(random, kinds.length)] ?? stem;
}

/** The words of text number `index`, about 200 bytes of them: every tenth names a code token, every twentieth is Chinese. */
function wordsOf(index: number): readonly string[] {
  const random = seededRandom(index);
  if (index % 20 === 7) return [Array.from({ length: 60 }, () => hanzi[pick(random, hanzi.length)] ?? '').join('')];
  const words = Array.from({ length: 34 }, () => wordOf(Math.floor(vocabulary ** random()) - 1));
  return index % 10 === 3 ? [...words, codeToken(random)] : words;
}

/** Text number `index`, the same in every run. */
export function textOf(index: number): string {
  return wordsOf(index).join(' ');
}

/** Kinds of query, as they are asked of a search. */
export const queryClasses = [
  'two rare words',
  'three words',
  'six most frequent words',
  'Chinese',
  'code token',
  'a miss',
] as const;
export type QueryClass = (typeof queryClasses)[number];

/** A query of a class that, but for a miss, something in the second half of `texts` texts answers. */
export function queryOf(kind: QueryClass, texts: number, random: Random): string {
  const twenties = Math.floor(texts / 40);
  const near = (last: number): number => last + 20 * (twenties + pick(random, twenties));
  const distinct = (index: number): readonly string[] =>
    [...new Set(wordsOf(index))].toSorted((one, other) => other.length - one.length);
  switch (kind) {
    case 'two rare words':
      return distinct(near(1)).slice(0, 2).join(' ');
    case 'three words':
      return distinct(near(2)).slice(3, 6).join(' ');
    case 'six most frequent words':
      return frequentWords.join(' ');
    case 'Chinese':
      return textOf(near(7)).slice(10, 14);
    case 'code token':
      return wordsOf(near(3)).at(-1) ?? '';
    case 'a miss':
      return `xq${pick(random, 100_000)}wj`;
  }
}
