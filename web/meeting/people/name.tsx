/** A name in its own text direction, followed by marks that no name can imitate. */
interface NameProps {
  readonly name: string;
  readonly marks?: readonly (string | false | undefined)[];
}

export const Name = ({ name, marks = [] }: NameProps) => (
  <>
    <bdi>{name}</bdi>
    {marks.map(
      (mark) =>
        mark && (
          <>
            {' '}
            <span class="mark">{mark}</span>
          </>
        ),
    )}
  </>
);
